#!/usr/bin/env bash
# Runs the first two blocks of README.md as root in fresh systems of Debian 12 and 13, each block in one of its own: all tests
# pass, and both programs train to the score that README.md prints. In Debian 13 the module of Python is built and tested, too.
# Prints the seconds of each command.
#   chroots.sh SOURCE_FOLDER WORK_FOLDER [SUITE]…
set -euo pipefail
source=$1 work=$2
suites=("${@:3}")
((${#suites[@]})) || suites=(bookworm trixie)
. "$(dirname "$0")/fresh_system.sh"

# block N: the commands of this block of README.md. The launcher and apt-get install without asking.
block() {
  awk -v n="$1" '/^```sh/ { inside = ++block == n; next } /^```/ { inside = 0 } inside' "$source/README.md" |
    sed 's|^\./heed |./heed --yes |; s|apt-get install|& -y|; s|apt-get|apt-get -qq|'
}
# python SUITE: the commands that test its module of Python; tests/python/nightly.sh has those of Debian 12.
python() {
  [[ $1 != trixie ]] || printf '%s\n' './heed --yes python -c "import heed"' 'tests/python/run.sh build/python-*'
}
score=$(grep '^test  ' "$source/README.md")

for suite in "${suites[@]}"; do
  for number in 1 2; do
    fresh_system "$work" "$suite"
    git clone -q "$source" "$root/heed"
    while IFS= read -r command; do
      seconds=$SECONDS
      in_system "cd /heed && $command" >"$work/log" 2>&1 || fail "$suite: $command: $(tail -n 50 "$work/log")"
      printf '%s: %d s: %s\n' "$suite" $((SECONDS - seconds)) "$command"
      [[ $command != *train\ configs/reverse.toml* ]] || grep -qxF "$score" "$work/log" || fail "$suite: another score: $(grep '^test' "$work/log")"
    done < <(block $number; ((number > 1)) || python $suite)
    remove_system
  done
done
echo "the commands of README.md work in ${suites[*]}"
