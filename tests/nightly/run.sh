#!/usr/bin/env bash
# `./heed test --nightly`: runs the nightly tests one by one, keeps each result at once, and prints a table of them.
#
#   run.sh BUILD [K/N] [--again] [OPTIONS OF CTEST]   runs the K-th of N parts, and no test that has a result for this commit
#   run.sh BUILD --table [PAGE]                       only prints the newest table, or writes it into a page between its markers
#   run.sh BUILD --check PAGE                         fails unless the table of the page has every nightly test
#
# BUILD/nightly.txt (heed_nightly_test in tests/CMakeLists.txt) has the minutes of each test, by which the parts are about
# equal, and what the test proves. Results are lines of nightly/COMMIT beside BUILD: name, result, seconds, time, processor, and
# what the test printed last. Of two lines of a test the last counts, so the files of two machines can be joined. Results of
# changed sources are kept in nightly/changed until the next call.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
build=$1 kept=$(dirname "$1")/nightly
shift

# table FILE: prints the table of a file of results.
table() {
  printf '\nCommit %s:\n\n| test | what it proves | minutes | result |\n|---|---|---|---|\n' "$([[ $1 == /dev/null ]] && echo none || basename "$1")"
  awk -F '\t' '
    FILENAME == ARGV[1] { result[$1] = $2; seconds[$1] = $3; day[$1] = substr($4, 1, 10); processor[$1] = $5; said[$1] = $6; next }
    {
      what = $1 in result ? result[$1] : "not run"
      ++count[what]
      minutes = $1 in result ? sprintf("%.1f", seconds[$1] / 60) : "–"
      printf "| %s | %s | %s | %s%s |\n", $1, $3, minutes, what, (said[$1] == "" ? "" : ": " said[$1])
      if (!($1 in result)) next
      total += seconds[$1]
      if (first == "" || day[$1] < first) first = day[$1]
      if (day[$1] > last) last = day[$1]
      if (!seen[processor[$1]]++) processors = processors (processors == "" ? "" : "; ") processor[$1]
    }
    END {
      printf "\n%d held, %d failed, %d skipped, %d not run, in %.1f hours", count["held"], count["failed"], count["skipped"],
        count["not run"], total / 3600
      if (first != "") printf " from %s to %s on %s", first, last, processors
      print "."
    }' "$1" <(sort "$build/nightly.txt")
}
# Prints the names and the texts in the table of a page.
rows_of() { sed -n '/^| test | what it proves |/d; /^<!-- nightly -->$/,/^<!-- \/nightly -->$/s/^| \([a-z][^ ]*\) | \([^|]*\) |.*/\1\t\2/p' "$1"; }

case ${1-} in
  --table)
    newest=$(ls -t "$kept" 2>/dev/null | grep -v '^changed$' | head -n 1) || true
    results=${newest:+$kept/$newest}
    results=${results:-/dev/null}
    if [[ ! ${2-} ]]; then table "$results"; exit; fi
    table "$results" | awk '
      FNR == NR { text = text $0 "\n"; next }
      !inside
      /^<!-- nightly -->$/ { printf "%s\n", text; inside = 1 }
      /^<!-- \/nightly -->$/ { print; inside = 0 }' - "$2" >"$2.new"
    mv "$2.new" "$2"
    exit ;;
  --check)
    diff <(rows_of "$2" | sort) <(sort "$build/nightly.txt" | cut -f 1,3) ||
      { echo "$2: the table lacks a nightly test (>), or has one that is not there (<): ./heed test --nightly --table $2"; exit 1; }
    exit ;;
esac

part=1/1 again='' options=()
for argument; do
  case $argument in
    [1-9]*/[1-9]*) part=$argument ;;
    --again) again=yes ;;
    *) options+=("$argument") ;;
  esac
done
cd "$root"
commit=$(git rev-parse --short=8 HEAD 2>/dev/null) || commit=changed
mkdir -p "$kept"
if [[ $commit == changed || $(git status --porcelain) ]]; then
  echo "The sources are changed, or no checkout of git: these results are not those of a commit."
  commit=changed
  rm -f "$kept/changed"
fi
results=$kept/$commit
touch "$results"
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1 || true)
processor="${processor:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) cores"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The longest test first, each to the part that has least; the name decides between equal ones.
mapfile -t names < <(sort -t $'\t' -k 2,2nr -k 1,1 "$build/nightly.txt" | awk -F '\t' -v part="$part" '
  BEGIN { split(part, of, "/") }
  {
    least = 1
    for (i = 2; i <= of[2]; ++i) if (sum[i] < sum[least]) least = i
    sum[least] += $2
    if (least == of[1]) print $1
  }')
chosen=$(ctest --test-dir "$build" -L '^nightly$' -N "${options[@]}" | sed -n 's/^ *Test *#[0-9]*: //p')
failed=0
for name in "${names[@]}"; do
  grep -qxF "$name" <<<"$chosen" || continue
  [[ $again ]] || ! grep -q "^$name"$'\t' "$results" || { echo "$name: has a result, which is kept; --again runs it again"; continue; }
  start=$SECONDS
  ctest --test-dir "$build" --output-on-failure --test-output-truncation head --output-junit "$work/result.xml" \
    "${options[@]}" -L '^nightly$' -R "^$name\$" </dev/null || true
  # The last line, or of nested tests how many passed.
  awk -v name="$name" -v seconds=$((SECONDS - start)) -v now="$(date -u +%Y-%m-%dT%H:%MZ)" -v processor="$processor" '
    /<testcase / { result = /status="run"/ ? "held" : "failed" }
    /<skipped message="SKIP_REGULAR/ { result = "skipped" }
    /<failure message="Timeout"/ { late = 1 }
    !printing && !/<system-out>/ { next }
    { printing = !/<\/system-out>/; gsub(/.*<system-out>|<\/system-out>.*/, "") }
    /skipped:/ && result == "skipped" { said = $0 }
    /tests passed/ { passed = $0 }
    NF { last = $0 }
    END {
      if (said == "") said = passed == "" ? last : passed
      sub(/^.*skipped: /, "", said)
      gsub(/&quot;/, "\"", said); gsub(/&lt;/, "<", said); gsub(/&gt;/, ">", said); gsub(/&amp;/, "\\&", said)
      gsub(/[|\t]/, " ", said); sub(/^ +/, "", said)
      if (late) said = "took longer than its limit"
      if (length(said) > 160) said = substr(said, 1, 159) "…"
      printf "%s\t%s\t%s\t%s\t%s\t%s\n", name, (result == "" ? "failed" : result), seconds, now, processor, said
    }' "$work/result.xml" >"$work/row" || true
  cat "$work/row" >>"$results"
  [[ $(cut -f 2 "$work/row") != failed ]] || failed=1
done
table "$results"
exit $failed
