#!/usr/bin/env bash
# Prints the parts of documents that follow from apps/minimal/files.txt, the reading order.
#   reading.sh files       a table for each chapter: files, length, and the first sentence of the first file
#   reading.sh chapters    a table of the chapters, for README.md
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

closure=$(tests/closure/run.sh "${CXX:-c++}" apps/minimal/files.txt --files)
# The lines "chapter|file file …": those of the list, then for each chapter the headers that it does not name.
rows() {
  local word name listed=" " chapter=""
  while read -r word name; do
    case $word in
      "" | "#"* | limit) ;;
      chapter) chapter=$name ;;
      *)
        listed+="$word $name "
        echo "$chapter|$word $name"
        ;;
    esac
  done <apps/minimal/files.txt
  while read -r word name; do
    if [[ $name == *" files "* ]]; then
      chapter=${name##* files  }
    elif [[ $word != *[!0-9]* && $name != *" "* && $listed != *" $name "* ]]; then
      echo "$chapter|$name"
    fi
  done <<<"$closure"
}

# The first sentence of a file, if it begins with a comment.
sentence() {
  sed -n '/^\/\/ *[^ ]/!q; s|^// *||p' "$1" | tr '\n' ' ' | sed -E 's/([a-z0-9)"∞}])\. +[A-Z(].*/\1./; s/[: ]*$//; s/([^.)])$/\1./'
}

mapfile -t rows < <(rows)
mapfile -t chapters < <(sed -n 's/^chapter //p' apps/minimal/files.txt)
number=0
[[ $1 == files ]] || printf '| chapter | files | lines |\n|---|---|---|\n'
for chapter in "${chapters[@]}"; do
  number=$((number + 1))
  summary=$(grep -E "^ *[0-9]+ lines in +[0-9]+ files  $chapter\$" <<<"$closure")
  read -r lines _ _ files _ <<<"$summary"
  if [[ $1 == chapters ]]; then
    printf '| [%s %s](docs/reading.md#%s-%s) | %s | %s |\n' "$number" "$chapter" "$number" "${chapter// /-}" "$files" "$lines"
    continue
  fi
  printf '## %s %s\n\n| file | lines | first sentence |\n|---|---|---|\n' "$number" "$chapter"
  for row in "${rows[@]}"; do
    [[ $row == "$chapter|"* ]] || continue
    read -ra names <<<"${row#*|}"
    text="" links="" length=0
    for file in "${names[@]}"; do
      links+="${links:+, }[$file](../$file)"
      length=$((length + $(wc -l <"$file")))
      [[ $text ]] || text=$(sentence "$file")
    done
    printf '| %s | %s | %s |\n' "$links" "$length" "$text"
  done
  printf '| | %s | |\n\n' "$lines"
done
total=$(tail -n 1 <<<"$closure")
read -r lines _ _ files _ <<<"$total"
if [[ $1 == chapters ]]; then
  printf '| | %s | %s |\n' "$files" "$lines"
else
  printf 'Together %s files, %s lines.\n' "$files" "$lines"
fi
