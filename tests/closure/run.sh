#!/usr/bin/env bash
# Counts the lines that one reads to follow a training step from a tensor on: a list of sources and every header of
# the project that they include, as the compiler names them (-MM). Prints the lines and files of each chapter. Fails if
# they are more than the list's limit.
#
#   run.sh COMPILER LIST [--files]    --files prints the files of each chapter too
#
# LIST has lines "limit NUMBER", "chapter NAME" and files. A header that it does not name counts in the chapter whose
# file is the first to include it.
set -euo pipefail
compiler=$1
list=$(readlink -f "$2")
details=${3-}
cd "$(dirname "$(readlink -f "$0")")/../.."

limit=0
chapter=""
chapters=()
declare -A chapter_of  # of each source in the list
sources=()
while read -r word name; do
  case $word in
    "" | "#"*) ;;
    limit) limit=$name ;;
    chapter)
      chapter=$name
      chapters+=("$chapter")
      ;;
    *)
      for file in $word $name; do
        [[ -e $file ]] || { echo "$list: there is no $file" >&2; exit 1; }
        [[ ${chapter_of[$file]-} ]] || sources+=("$file")
        chapter_of[$file]=$chapter
      done
      ;;
  esac
done <"$list"

# The compiler reads all sources as one, and names each file once, in the order in which it is first needed.
mapfile -t files < <(printf '#include "%s"\n' "${sources[@]}" |
  "$compiler" -std=c++20 -I. -MM -MT all -w -x c++ - | sed 's/^all://; s/\\$//' | tr ' ' '\n' | sed '/^$/d; s|^\./||; /^-$/d')
((${#files[@]} >= ${#sources[@]})) || { echo "$compiler -MM names ${#files[@]} files for ${#sources[@]} sources" >&2; exit 1; }

declare -A lines count names
current=""
total=0
for file in "${files[@]}"; do
  current=${chapter_of[$file]-$current}
  length=$(wc -l <"$file")
  total=$((total + length))
  lines[$current]=$((${lines[$current]-0} + length))
  count[$current]=$((${count[$current]-0} + 1))
  names[$current]+=$(printf '\n    %5d  %s' "$length" "$file")
done
for chapter in "${chapters[@]}"; do
  printf '%6d lines in %3d files  %s%s\n' "${lines[$chapter]}" "${count[$chapter]}" "$chapter" "${details:+${names[$chapter]}}"
done
printf '%6d lines in %3d files  together; the limit is %d\n' "$total" "${#files[@]}" "$limit"
if ((total > limit)); then
  echo "closure: $((total - limit)) lines more than the limit of $list: which file includes what it did not include before?" >&2
  exit 1
fi
