#!/usr/bin/env bash
# Makes slides of each week of course/teaching.md from the chapters that it names: slides.sh OUT
#
# pandoc writes OUT/week-N.html for each week, which needs no other file and no network.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
mkdir -p "$1"
out=$(cd "$1" && pwd -P)
cd "$here/.."

# The table of weeks: | number | chapters | in class | to hand in |
grep -E '^[|] [1-9] [|]' teaching.md | while IFS='|' read -r _ week chapters in_class hand_in _; do
  week=${week// /}
  printf '# Week %s\n\n**In class:** %s\n\n**To hand in:** %s\n' "$week" "$in_class" "$hand_in" |
    pandoc --from gfm+tex_math_dollars --to html5 --mathml --lua-filter "$here/slides.lua" --template "$here/page.html" \
      --metadata pagetitle="heed: week $week" --self-contained --quiet --output "$out/week-$week.html" \
      - $(grep -oE '[0-9]{2}_[a-z_]+[.]md' <<<"$chapters")
done
