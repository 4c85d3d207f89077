#!/usr/bin/env bash
# Runs the first two blocks of README.md as root in fresh systems of Debian 12 and 13, each block in one of its own: all tests
# pass, and both programs train to the score that README.md prints. Prints the seconds of each command.
#   chroots.sh SOURCE_FOLDER WORK_FOLDER [SUITE]…
set -euo pipefail
source=$1 work=$2
suites=("${@:3}")
((${#suites[@]})) || suites=(bookworm trixie)
for tool in debootstrap git; do
  type "$tool" &>/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
((EUID == 0)) || { echo "skipped: debootstrap needs root"; exit 0; }
git -C "$source" rev-parse --is-inside-work-tree &>/dev/null || { echo "skipped: the sources are no checkout of git"; exit 0; }
fail() { echo "$*"; exit 1; }
root=
leave() { [[ ! $root ]] || { umount -R "$root/dev" "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"; }; }
trap leave EXIT

# block N: the commands of this block of README.md. The launcher and apt-get install without asking.
block() {
  awk -v n="$1" '/^```sh/ { inside = ++block == n; next } /^```/ { inside = 0 } inside' "$source/README.md" |
    sed 's|^\./heed |./heed --yes |; s|apt-get install|& -y|; s|apt-get|apt-get -qq|'
}
score=$(grep '^test  ' "$source/README.md")

mkdir -p "$work"
for suite in "${suites[@]}"; do
  base=$work/$suite
  [[ -e $base/complete ]] || {
    rm -rf "$base"
    debootstrap --variant=minbase "$suite" "$base" >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
    touch "$base/complete"
  }
  for number in 1 2; do
    root=$work/$suite-$number
    rm -rf "$root"
    cp -a "$base" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --make-rslave "$root/dev"
    git clone -q "$source" "$root/heed"
    while IFS= read -r command; do
      seconds=$SECONDS
      chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        sh -c "cd /heed && $command" </dev/null >"$work/log" 2>&1 || fail "$suite: $command: $(tail -n 50 "$work/log")"
      printf '%s: %d s: %s\n' "$suite" $((SECONDS - seconds)) "$command"
      [[ $command != *train\ configs/reverse.toml* ]] || grep -qxF "$score" "$work/log" || fail "$suite: another score: $(grep '^test' "$work/log")"
    done < <(block $number)
    umount -R "$root/dev" "$root/proc"
    rm -rf "$root"
    root=
  done
done
