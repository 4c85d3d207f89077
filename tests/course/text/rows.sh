#!/usr/bin/env bash
# Compares a table of a page with a sweep that was trained again.
#   rows.sh PAGE RUN COLUMN…    the columns of the table: keys, then scores, shown as mean ± half of the interval
#
# Keys must be equal, and a mean must be within two bands of the one that is shown. Prints the rows that differ, and how
# many do not.
set -euo pipefail
page=$1 run=$2
shift 2
heed compare "$run" --csv | awk -F , -v names="$*" '
  { gsub(/"/, "") }
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["runs"] == "" { next }  # of a key, not of a group
  { n = split(names, name, " "); line = "|"
    for (i = 1; i <= n; ++i)
      line = line " " (name[i] in at ? $at[name[i]] : sprintf("%.3f ± %.3f", $at[name[i] " mean"], ($at[name[i] " high"] - $at[name[i] " low"]) / 2)) " |"
    print line }' |
  awk -F ' *[|] *' -v run="$run" '
    function key(    i, k) { for (i = 2; i < NF; ++i) if ($i !~ /±/) k = k "|" $i; return k "|" NF }
    NR == FNR { if (/±/) shown[key()] = $0; next }
    { n = split(shown[key()], cell, / *[|] */); ++all; good = n == NF
      for (i = 2; i < n; ++i) if ($i ~ /±/) {
        split($i, now, " "); split(cell[i], then, " "); off = now[1] - then[1]
        if (off < 0) off = -off
        if (off > 2 * then[3] + 0.01) good = 0
      }
      if (good) ++agree; else print "not as shown: " $0 }
    END { print run ": " agree " of " all " rows are within their bands" }' "$page" -
