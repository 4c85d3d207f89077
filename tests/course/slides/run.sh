#!/usr/bin/env bash
# Makes the slides of all weeks and looks at what they contain. Skipped without pandoc.
#   run.sh FOLDER    works in FOLDER
set -euo pipefail
sources=$(dirname "$(readlink -f "$0")")/../../..
type pandoc &>/dev/null || { echo "skipped: pandoc is not installed"; exit; }
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }
rm -rf "$1"
"$sources/course/slides/slides.sh" "$1"
weeks=0
while read -r week chapters; do
  file=$1/week-$week.html
  weeks=$((weeks + 1))
  (($(grep -c 'class="slide"' "$file") >= 50)) || complain "$file: fewer than 50 slides"
  headings=$(tr '\n' ' ' <"$file" | grep -oE '>[^<>]*</h[12]>')
  for chapter in $chapters; do
    # Every section but two; those with special characters are left out here.
    while IFS= read -r heading; do
      grep -qF ">$heading</h" <<<"$headings" || complain "$file: no slide \"$heading\""
    done < <(sed -nE '/^## (Where it is in the library|Exercises)$/d; s/^##? ([^`$&<"'"'"']*)$/\1/p' "$sources/course/$chapter")
  done
  ! grep -oE '(src|srcset)="(https?:)?//[^"]*|<link [^>]*|@import[^;]*|url\((&quot;|["'"'"'])?https?:[^)]*' "$file" ||
    complain "$file: asks for something from outside"
  ! grep -oE '<span class="math.*' "$file" || complain "$file: a formula is shown as it was written"
  ! grep -oE 'src="(figures|drawings)[^"]*' "$file" || complain "$file: a picture is missing"
done < <(sed -nE 's/^[|] ([1-9]) [|]([^|]*)[|].*/\1 \2/p' "$sources/course/teaching.md" | sed -E "s#\\[[0-9]+\\]##g; s#[(),]# #g")
((weeks > 0)) || complain "course/teaching.md has no table of weeks"
exit $failed
