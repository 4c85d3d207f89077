#!/usr/bin/env bash
# Runs the study of docs/experiments.md: its commands as they are there, and compares what they print with the page.
#   study.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
root=$(readlink -f "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "docs/experiments.md: $*"; exit 1; }

# The blocks of the section: commands (sh), and what the last one prints (text).
section() { sed -n '/^## A study, from question to figure$/,/^## /p' "$root/docs/experiments.md"; }
block() { section | sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '/^```/d'; }
[[ $(block sh) && $(block text) ]] || fail "no study"

mkdir "$folder/bin"
ln -s "$program" "$folder/bin/heed"
ln -s "$root/configs" "$folder/configs"
cd "$folder"
PATH=$folder/bin:$PATH bash -euo pipefail -c "$(block sh)" >out 2>err || { tail -n 20 err; fail "a command of the study fails"; }

# Numbers depend on the last bits of weights, and so on the processor: the words before the numbers are compared.
while IFS= read -r line; do
  grep -qF -- "$(sed -E 's/^(.* (lower|higher) by ).*/\1/' <<<"$line")" out || fail "the study does not print: $line"
done < <(block text)
for file in curves.csv kinds.svg; do [[ -s $file ]] || fail "the study writes no $file"; done
grep -q '^\\bottomrule$' table.tex || fail "the study writes no table.tex"
[[ $(grep -c '<polyline ' kinds.svg) == 4 ]] || fail "kinds.svg has other lines than the four groups"
[[ $(head -1 curves.csv) == group,step,mean,low,high,n ]] || fail "curves.csv has another heading"
