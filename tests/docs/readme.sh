#!/usr/bin/env bash
# Runs the commands of README.md's first two blocks, without those that install, build and test, and compares what they print.
# The training that both blocks have runs once.
#   readme.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/../.."
readme=$PWD/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r configs "$work"
cd "$work"
block() { awk -v kind="$1" '/^```$/ { inside = 0 } inside; $0 == "```" kind { inside = 1 }' "$readme"; }

commands=''
while IFS= read -r line; do
  line=$(sed -E 's/ +#.*//; s#(^|[ |])(\./heed|build/bin/heed-trainer) #\1"$program" #' <<<"$line")
  [[ $line == *'"$program" '* && $line != *'"$program" test' && $commands != *"$line"* ]] || continue
  commands+="$line;"
  echo "$line"
  program=$program bash -c "$line" 2>log | tee -a output || { cat log; exit 1; }
done < <(block sh)
# Scores differ in their last digits from one kind of processor to another; samples do not.
sample=$(block text | grep '→')
for line in "$sample" "${sample##*→ }"; do
  grep -qxF -- "$line" output || { echo "README.md: the quick start does not print this line: $line"; exit 1; }
done
diff <(block text | sed 's/ .*//') <(grep -E '^(split|test|test_longer|) ' output | sed 's/ .*//; 5,$d') ||
  { echo "README.md: the quick start prints another table"; exit 1; }
awk '$1 == "test" && $(NF - 1) >= 99 { found = 1 } END { exit !found }' output || { echo "exact match of test is below 99 %"; exit 1; }
