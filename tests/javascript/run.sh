#!/usr/bin/env bash
# Tests, lints and checks the format of the pages' JavaScript, in a copy below build/.
#   run.sh [--write | --strict]
# --write formats the files instead. --strict fails where npm cannot fetch the linter and the formatter; otherwise what
# is missing is skipped.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
type node &>/dev/null || { echo "skipped: node is not installed"; exit; }

folders=(course/playground/page course/site lab/page lab/report/page tests/javascript)
work=build/javascript
mkdir -p "$work"
rm -rf "$work/lab" "$work/course" "$work/tests"
tar -c "${folders[@]}" tests/fixtures/axis.json | tar -x -C "$work"
cp tests/javascript/{package.json,package-lock.json,prettier.json,eslint.config.js} "$work"
rm "$work"/tests/javascript/{package.json,package-lock.json}
# What a page gets: the joined modules of each entry are one script.
for entry in lab/report/page/report.js course/playground/page/playground.js; do
  cmake -DENTRY="$entry" -DOUTPUT="$work/joined.js" -P cmake/join_modules.cmake
  node --check "$work/joined.js"
done
cd "$work"

node --test tests/javascript

type npm &>/dev/null || { echo "skipped the linter and the formatter: npm is not installed"; exit; }
if ! cmp -s package-lock.json node_modules/.heed-lock; then
  if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
    echo "skipped the linter and the formatter: npm cannot fetch them"
    [ "${1-}" != --strict ]
    exit
  fi
  cp package-lock.json node_modules/.heed-lock
fi
files=("${folders[@]/%//**/*.js}" "${folders[@]/%//**/*.css}")
if [ "${1-}" = --write ]; then
  node_modules/.bin/prettier --config prettier.json --log-level warn --no-error-on-unmatched-pattern --write "${files[@]}"
  for file in $(cd ../.. && find "${folders[@]}" -name '*.js' -o -name '*.css'); do
    cmp -s "$file" "../../$file" || cp "$file" "../../$file"
  done
fi
node_modules/.bin/eslint --max-warnings 0 "${folders[@]}"
node_modules/.bin/prettier --config prettier.json --no-error-on-unmatched-pattern --check "${files[@]}"
