#!/usr/bin/env bash
# Makes the slides of all weeks and looks at what they contain. Skipped without node or npm.
#   run.sh FOLDER    works in FOLDER, which keeps npm's packages
set -euo pipefail
sources=$(dirname "$(readlink -f "$0")")/../../..
for tool in node npm; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }
mkdir -p "$1"
rm -rf "$1/slides"
"$sources/course/slides/slides.sh" "$1" "$1/slides" >"$1/log"
[[ $(grep -c slides$ "$1/log") == $(grep -cE '^[|] [1-9] [|]' "$sources/course/teaching.md") ]] || complain "not a file for each week: $(<"$1/log")"
while read -r file chapters; do
  # What is shown, without the notes.
  shown=$(sed -E 's/<pre class="notes">/\n&/g; s#</pre></div>#\n&#g' "$file" | awk '/^<pre class="notes">/ { notes = 1 } /^<.pre><.div>/ { notes = 0 } !notes')
  for chapter in $chapters; do
    title=$(sed -n '1s/^# //p' "$sources/course/$chapter")
    grep -qF "${title%%[:,&]*}" <<<"$shown" || complain "$file: no slide \"$title\""
  done
  ! grep -oE '(src|srcset)="(https?:)?//[^"]*|<link [^>]*|@import[^;]*|url\((&quot;|["'"'"'])?https?:[^)]*' <<<"$shown" ||
    complain "$file: asks for something from outside"
  ! grep -oE '.{30}([$][$]|\\\\frac|<!--).{30}' <<<"$shown" || complain "$file: a formula or a note is shown as it was written"
  ! grep -oE 'src="(figures|drawings)[^"]*' <<<"$shown" || complain "$file: a picture is missing"
done < <(sed -nE 's/^[|] ([1-9]) [|]([^|]*)[|].*/\1 \2/p' "$sources/course/teaching.md" |
  sed -E "s#\\[[0-9]+\\]##g; s#[(),]# #g; s#^([1-9]) #$1/slides/week-\\1.html #")
exit $failed
