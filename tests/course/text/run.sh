#!/usr/bin/env bash
# Executes a page of course and compares what the page says with what happens.
#   run.sh program PAGE                prints the C++ blocks of a page as a source file of the program course_pages, with
#                                      their checksum: the program of an earlier page is rejected
#   run.sh quick PAGE PROGRAM HEED     runs them and the shell blocks, compares outputs, excerpts, links, figures
#   run.sh nightly PAGE PROGRAM HEED   the same with the shell blocks tagged nightly, and without the C++ blocks
#   run.sh figures PAGE PROGRAM HEED   writes the figures of the quick blocks into the page's folder
#
# A page consists of Markdown and of fenced blocks:
#   ```cpp           statements, which see those of earlier blocks of the page; page.h shows what they may use
#   ```sh            commands, run in order in a scratch folder with heed, configs, docs, course and tests, before the C++ blocks
#   ```sh nightly    commands that take longer than 20 s
#   ```text          the output of the block right before: see compare.awk for how it is compared
#   ```cpp excerpt   lines of the file that the last link before names; a line ... skips some. Also other languages.
#   ```, ```math     not executed: diagrams, formulas
# The text of a link such as [`layer_norm`](../../core/ops/norm.cpp) must be defined in the file. A figure,
# ![…](figures/NAME.svg), is drawn again by the last block that names its file. The numbers in the description of a drawing,
# ![…](drawings/NAME.svg), must be printed by blocks of the page.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../../..")
mode=$1 page=$2 program=${3-} heed=${4-}
name=${page#"$root"/} key=$(basename "$page" .md)
folder=$(dirname "$(readlink -f "$page")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/blocks" "$work/outputs" "$work/scratch"
page=$(readlink -f "$page")
if [[ $program ]]; then
  program=$(readlink -f "$program") heed=$(readlink -f "$heed")
fi
failed=0
complain() { printf '%s\n' "$@"; failed=1; }

(cd "$folder" && awk -v folder="$work/blocks" -f "$here/blocks.awk" "$(basename "$page")") >"$work/list" 2>"$work/errors" ||
  { sed "s#^#$(dirname "$name")/#" "$work/errors"; exit 1; }
# Prints the entries of one kind, without the kind.
entries() { awk -F '\t' -v kind="$1" '$1 == kind { sub(/^[^\t]*\t/, ""); print }' "$work/list"; }

# Of the C++ blocks: their lines and texts.
lines=$(entries cpp | cut -f 1)
checksum=$(cd "$work/blocks" && { echo $lines; cat $lines /dev/null; } | cksum)
checksum=${checksum%% *}
if [[ $mode == program ]]; then
  printf '#include "tests/course/text/page.h"\n'
  grep -h '^#include' $(entries cpp | awk -v folder="$work/blocks/" '{ print folder $1 }') /dev/null || true
  printf 'namespace page_%s {\nstatic void blocks(void (*begin)(int line)) {\n' "$key"
  while read -r line _; do
    printf 'begin(%s);\n#line %s "%s"\n' "$line" "$line" "$name"
    sed 's/^#include.*//' "$work/blocks/$line"
  done < <(entries cpp)
  printf '}\nstatic const bool added = course::pages().emplace("%s", course::Page{"%s", blocks, %s}).second;\n}\n' \
    "$key" "$name" "${checksum}u"
  exit
fi

# Runs ------------------------------------------------------------------------------------------------------------

run_shell_blocks() {
  local kind line _
  while read -r kind line _; do
    [[ $kind == sh || ($kind == nightly && $mode == nightly) ]] || continue
    (cd "$work/scratch" && PATH=$work/scratch:$PATH bash -euo pipefail "$work/blocks/$line") \
      >"$work/outputs/$line" 2>"$work/errors" </dev/null ||
      complain "$name:$line: this block fails with exit code $?" "$(tail -n 20 "$work/outputs/$line" "$work/errors")"
  done <"$work/list"
}

# Compares the output of every block that has run with the text shown.
compare_outputs() {
  local kind block text
  while read -r kind block text; do
    [[ $kind == cpp || $kind == sh || $kind == nightly ]] || continue
    [[ $text != 0 && -e $work/outputs/$block ]] || continue
    LC_ALL=C awk -v page="$name" -v first="$text" -f "$here/unit.awk" -f "$here/compare.awk" "$work/blocks/$text" "$work/outputs/$block" ||
      complain "$name:$block: this block prints:" "$(head -n 60 "$work/outputs/$block" | sed 's/^/    /')"
  done <"$work/list"
}

compare_figures() {
  local line figure block
  while read -r line figure block; do
    if [[ ! -e $work/outputs/$block ]]; then
      continue  # drawn only by the nightly test, or only by the quick one
    elif [[ ! -e $work/scratch/$figure ]]; then
      complain "$name:$line: the block of line $block does not draw $figure"
    elif [[ $mode == figures ]]; then
      mkdir -p "$folder/figures"
      cp "$work/scratch/$figure" "$folder/$figure"
    elif [[ ! -e $folder/$figure ]]; then
      complain "$name:$line: there is no $figure: tests/course/text/run.sh figures $name PROGRAM HEED writes it"
    else
      LC_ALL=C awk -v page="$name: $figure" -v first=1 -v tolerance=0.01 -f "$here/unit.awk" -f "$here/compare.awk" \
        "$folder/$figure" "$work/scratch/$figure" || complain "$name:$line: the block of line $block draws another $figure"
    fi
  done < <(entries figure)
}

# Reads ------------------------------------------------------------------------------------------------------------

# Whether the lines of $1 occur in the file $2, in order and together but where a line ... skips some. Indentation does
# not count.
occurs() {
  awk '
    function bare(line) { gsub(/^[ \t]+|[ \t]+$/, "", line); return line }
    function found(i, j) {  # lines i … of the excerpt at line j of the file, or after it where some are skipped
      for (; i <= n; ++i) {
        if (excerpt[i] == "...") {
          for (; j <= m; ++j) if (found(i + 1, j)) return 1
          return i == n
        }
        if (j > m || excerpt[i] != lines[j]) return 0
        ++j
      }
      return 1
    }
    FILENAME == ARGV[1] { excerpt[++n] = bare($0); next }
    { lines[++m] = bare($0) }
    END { for (at = 1; at <= m; ++at) if (found(1, at)) exit 0; exit 1 }' "$1" "$2"
}

check_excerpts() {
  local line file
  while read -r line file; do
    if [[ ! -f $folder/$file ]]; then
      complain "$name:$line: there is no file $file"
    else
      occurs "$work/blocks/$line" "$folder/$file" || complain "$name:$line: $file has no such lines"
    fi
  done < <(entries excerpt)
}

# Whether $1, a name as in C++, is declared or defined in the file $2; in other files than C++, whether it occurs.
defines() {
  local word=${1%%(*}
  if [[ $2 != *.cpp && $2 != *.h ]]; then
    grep -qF -- "$word" "$2"
    return
  fi
  awk -v word="${word##*::}" '
    BEGIN {
      after = "[ \t]*([(;={,:[]|$)"
      kinds = "(^|[^A-Za-z0-9_])(class|struct|enum|enum class|union|using|namespace|concept|#define) +" word "([^A-Za-z0-9_]|$)"
      typed = "[])A-Za-z0-9_>&*] *[ &*]([A-Za-z0-9_]+::)*" word after
      used = "(return|case|throw|new|else|goto|delete) +([A-Za-z0-9_]+::)*" word after
      listed = "^[ \t]*(" word "[ \t]*(,|=|$|})|[a-z_]+ *\\( *" word "[ \t]*[,)])"
      quoted = "\"" word "\""
    }
    { sub(/\/\/.*/, "") }
    index($0, word) && ($0 ~ kinds || ($0 ~ typed && $0 !~ used) || $0 ~ listed || $0 ~ quoted) { found = 1; exit }
    END { exit !found }' "$2"
}

check_names() {
  local line word file
  while IFS=$'\t' read -r line word file; do
    if [[ ! -e $folder/$file ]]; then
      complain "$name:$line: the link to $file leads nowhere"
    elif [[ -f $folder/$file && $file != *"$word" ]]; then  # the text of a link may also be its file
      defines "$word" "$folder/$file" || complain "$name:$line: $file does not define $word"
    fi
  done < <(entries name)
}

# The anchors that GitHub gives to the headings of a page.
anchors() {
  sed '/^```/,/^```$/d' "$1" | grep -E '^#+ ' |
    sed -E 's/^#+ +//; s/\[([^]]*)\]\([^)]*\)/\1/g; s/[^[:alnum:] _-]//g; s/ /-/g' | awk '{ print tolower($0) }'
}

# A drawing must fit both colour schemes, stay small, and be what draw.py draws; an output of the page shows each number
# of its description.
check_drawings() {
  local line file drawing
  while IFS=$'\t' read -r line file; do
    drawing=$folder/$file
    if [[ ! -e $drawing ]]; then
      complain "$name:$line: there is no $file"
      continue
    fi
    (($(wc -c <"$drawing") <= 40000)) || complain "$name:$line: $file has more than 40,000 bytes"
    grep -q 'prefers-color-scheme' "$drawing" || complain "$name:$line: $file has no dark colours"
    awk -v page="$name:$line" -f "$here/unit.awk" -f "$here/drawing.awk" "$drawing" \
      $( (entries cpp; entries sh) | awk -F '\t' -v folder="$work/blocks/" '$2 { print folder $2 }') || failed=1
    if command -v python3 >/dev/null; then
      (cd "$work" && python3 -B "$folder/drawings/draw.py" "$(basename "$file" .svg)" >/dev/null) &&
        cmp -s "$work/$(basename "$file")" "$drawing" || complain "$name:$line: draw.py draws another $file"
    fi
  done < <(entries drawing)
}

check_links() {
  local line target file
  while IFS=$'\t' read -r line target; do
    file=${target%%#*}
    file=${file:+$folder/$file}
    if [[ ! -e ${file:-$page} ]]; then
      complain "$name:$line: the link to $target leads nowhere"
    elif [[ $target == *#* ]] && ! anchors "${file:-$page}" | grep -qxF -- "${target#*#}"; then
      complain "$name:$line: ${target%%#*} has no heading with the anchor #${target#*#}"
    fi
  done < <(entries page)
}

# A lesson says at its head what it is for. Other pages need not.
check_head() {
  [[ $name != docs/* ]] || return 0
  local words
  for words in "You will be able to" "You need" "It takes" "It runs"; do
    head -n 14 "$page" | grep -qF "**$words**" || complain "$name:1: the head does not say **$words**"
  done
}

start=$EPOCHREALTIME
mkdir "$work/scratch/figures"
ln -s "$heed" "$work/scratch/heed"
ln -s "$root/configs" "$root/docs" "$root/course" "$root/tests" "$work/scratch"
run_shell_blocks
if [[ $mode != nightly ]]; then
  (cd "$work/scratch" && "$program" "$key" "$work/outputs" "$checksum") 2>"$work/errors" ||
    complain "$name: the C++ blocks end with exit code $?" "$(tail -n 20 "$work/errors")"
fi
((failed)) || compare_outputs
((failed)) || compare_figures
if [[ $mode == quick ]]; then
  check_head
  check_excerpts
  check_names
  check_links
  check_drawings
fi
printf '%s: %d blocks ran in %.1f s\n' "$name" "$(find "$work/outputs" -type f | wc -l)" \
  "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
exit "$failed"
