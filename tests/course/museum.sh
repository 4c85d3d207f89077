#!/usr/bin/env bash
# The museum, as a learner calls it.
#   museum.sh PROGRAM quick    the list, and one exhibit
#   museum.sh PROGRAM all      every exhibit: it builds, and shows what it says
set -euo pipefail
program=$1
museum=$(dirname "$(readlink -f "$0")")/../../course/museum
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }
show() {
  code=0
  output=$("$program" course museum "$@" 2>&1) || code=$?
}

if [[ $2 == all ]]; then
  for folder in "$museum"/*/; do
    name=$(basename "$folder")
    show "$name"
    printf '%s\n' "$output"
    ((code == 0)) || complain "$name: exit code $code"
  done
  ((failed)) || echo "every exhibit shows what it says"
  exit $failed
fi

show
((code == 0)) && grep -qE "^softmax-wrong-axis +Softmax over the wrong axis +nn/forms/normaliser.cpp$" <<<"$output" ||
  complain "the list: $output"
show --json
((code == 0)) && grep -qF '"name": "softmax-wrong-axis"' <<<"$output" || complain "the list as JSON: $output"
mkdir "$work/tools"  # without git
for tool in env bash dirname awk; do ln -s "$(type -P $tool)" "$work/tools"; done
PATH=$work/tools show softmax-wrong-axis
((code == 2)) && [[ $output == *"error: git is not installed"* ]] || complain "without git: $output"
type git &>/dev/null || ((failed)) || { echo "skipped: git is not installed, which applies the changes"; exit; }
for patch in "$museum"/*/change.patch; do  # without an offset
  (cd "$museum/../.." && git apply --check -v "$patch") >"$work/check" 2>&1 && ! grep -q offset "$work/check" ||
    complain "$patch does not fit the sources: $(<"$work/check")"
done
show softmax-wrong-axes
((code == 2)) && [[ $output == *"did you mean 'softmax-wrong-axis'"* ]] || complain "an unknown name: $output"
show softmax-wrong-axis
((code == 0)) || complain "exit code $code: $output"
for words in "masked_scores(scores, mask), -2);" "building nn/forms/normaliser.cpp" "row 0 adds up to" "**How you find it.**"; do
  [[ $output == *"$words"* ]] || complain "expected '$words' in: $output"
done
exit $failed
