#!/usr/bin/env bash
# Compares the documents with the code: lists, numbers of lines, links.
#   run.sh PROGRAM               checks
#   run.sh --update [PROGRAM]    writes the reading order into docs/reading.md and README.md, docs/help.txt and docs/rooms.svg
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

# A page with the lines between <!-- NAME --> and <!-- /NAME --> as tests/docs/reading.sh NAME or licences.sh prints them.
with_part() {
  local script=reading
  [[ $2 != npm ]] || script=licences
  awk -v name="$2" -v part="$(tests/docs/$script.sh "$2")" '
    $0 == "<!-- /" name " -->" { inside = 0 }
    !inside
    $0 == "<!-- " name " -->" { inside = 1; print part }' "$1"
}
parts="README.md:chapters docs/reading.md:files docs/licences.md:npm"

# Prints the names of the commands of a program, in their order.
commands_of() { "$1" --help | awk '/^Subcommands:/ { list = 1; next } /^$/ { list = 0 } list { print $1 }'; }

# docs/help.txt: the help of every command, which the launcher prints while no program is built, and the site shows.
help_text() {
  local command
  printf '## heed\n'
  "$program" --help
  for command in $(commands_of "$program"); do
    printf '## %s\n' "$command"
    "$program" "$command" --help
  done
}

if [[ $1 == --update ]]; then
  program=${2-build/release/bin/heed}
  for part in $parts; do
    with_part "${part%:*}" "${part#*:}" >page.new
    mv page.new "${part%:*}"
  done
  help_text >help.new
  mv help.new docs/help.txt
  ! command -v python3 >/dev/null || docs/rooms.py docs/rooms.svg
  exit
fi
program=$1
failed=0
complain() { printf '%s\n' "$*"; failed=1; }

# The reading order is apps/minimal/files.txt.
for part in $parts; do
  page=${part%:*} name=${part#*:}
  grep -qx "<!-- $name -->" "$page" || complain "$page: the line <!-- $name --> is missing"
  diff "$page" <(with_part "$page" "$name") || complain "$page: its list has changed: tests/docs/run.sh --update"
done

tests/docs/licences.sh >/dev/null || complain "docs/licences.md: a package without a licence"

# The drawing of the reading order is that of the includes' table.
! command -v python3 >/dev/null || docs/rooms.py | cmp - docs/rooms.svg || complain "docs/rooms.svg: the rooms have changed: tests/docs/run.sh --update"

# Every config has a row with the goal of its head.
for config in configs/{,tasks/}*.toml; do
  name=${config#configs/}
  row=$(grep -F "| [$name]($name) |" configs/README.md) || { complain "configs/README.md: no row for $config"; continue; }
  goal=$(sed -n 's/^# Goal: //p' "$config")
  [[ $goal && $row == *"| $goal |"* ]] || complain "configs/README.md: the goal of $name differs from its head: $goal"
done

# README.md is short, names the packages that its commands need and the target of the trainer, and each kind of user finds a first command.
(($(wc -l <README.md) <= 120)) || complain "README.md has more than 120 lines"
packages=$(sed -nE 's/^\| (build|tensors|program|intervals|view) \| ([^|]*) \|.*/\2/p' cmake/packages.txt | tr '\n' ' ')
grep -qxF "\$(command -v sudo) apt-get install ${packages% }" README.md || complain "README.md: the packages differ from cmake/packages.txt"
grep -q "^heed_executable($(sed -n 's/.* --target //p' README.md))$" apps/CMakeLists.txt || complain "README.md: there is no such target"
for command in data sweep course playground; do
  grep -q "^| .* | \`./heed $command" README.md || complain "README.md: no row for ./heed $command"
done
# Its quotations of the code are lines of the file that it names below them.
while IFS='|' read -r file line; do
  grep -qF -- "$line" "$file" || complain "README.md quotes a line that $file does not have: $line"
done < <(awk '/^```cpp/ { code = 1; n = 0; next } /^```$/ { code = 0; next } code { lines[n++] = $0 }
  !code && n && match($0, /\]\((core|nn|optim)\/[a-z_\/]+\.cpp\)/) {
    for (i = 0; i < n; ++i) print substr($0, RSTART + 2, RLENGTH - 3) "|" lines[i]
    n = 0
  }' README.md)

diff docs/help.txt <(help_text) || complain "docs/help.txt differs from heed COMMAND --help: tests/docs/run.sh --update"

# The launcher prints the program's own help from that file if no program is built.
unbuilt=$(mktemp -d)
trap 'rm -rf "$unbuilt"' EXIT
mkdir "$unbuilt/docs"
cp heed "$unbuilt"
cp docs/help.txt "$unbuilt/docs"
# The launcher's own lines follow the program's.
own_left_out() { sed '/^This script builds heed first/,$d' | sed '$d'; }
diff <("$unbuilt/heed" --help | own_left_out) <("$program" --help) || complain "heed --help differs from that of the program"
diff <("$unbuilt/heed" 2>&1 | own_left_out) <("$program" 2>&1) || complain "heed without arguments differs from the program"
for command in $(commands_of "$program"); do
  diff <("$unbuilt/heed" "$command" --help) <("$program" "$command" --help) ||
    complain "heed $command --help differs from that of the program"
done

# The launcher knows the commands of the smaller program.
root=.
eval "$(grep '^is_of_framework()' heed)"
known=$(for command in $(commands_of "$program"); do if is_of_framework "$command"; then echo "$command"; fi; done | sort)
trained=$(commands_of "$(dirname "$program")/heed-trainer" | sort)
[[ $known && $known == "$trained" ]] || complain "heed: is_of_framework finds other commands than heed-trainer has: $trained"

# docs/attention.md has every key of three sections with its default, and every choice.
reference=$("$program" config --reference)
while IFS='|' read -r _ key type default allowed _; do
  if [[ $type == *choice* ]]; then
    for choice in ${allowed//,/}; do
      grep -qF "\`$choice\`" docs/attention.md || complain "docs/attention.md: no choice $choice of $key"
    done
  fi
  default=$(tr -d ' `' <<<"$default")
  grep -qF -e "|$key| \`$default\` |" -e "${key# }(default \`${default//\"/}\`)" docs/attention.md ||
    complain "docs/attention.md: no$key(default $default)"
done < <(grep -E '^\| `model\.(attention|positional|block)\.' <<<"$reference")

# Each statement of SECURITY.md names tests that exist.
while IFS='|' read -r _ statement tests _; do
  [[ $tests == *': '* ]] || complain "SECURITY.md: no test: $statement"
  while IFS= read -r test; do
    grep -qF -- "${test#*: }" "${test%%: *}" || complain "SECURITY.md: no such test: $test"
  done < <(grep -o '`[^`]*`' <<<"$tests" | tr -d '`')
done < <(grep '^| ' SECURITY.md | grep -v '^| statement |')

# Every key that the documents and the comments of configs name exists.
keys=$(grep -oE '^\| `[a-z_.]+`' <<<"$reference" | tr -d '|` ')
while read -r key; do
  grep -qx "$key" <<<"$keys" || complain "$key: README.md, docs or a config names a key that does not exist"
done < <(grep -rhoE -- '--set [a-z_.]+=' README.md CONTRIBUTING.md docs course configs | sed 's/--set //; s/=//' | sort -u)
while IFS=: read -r page key; do
  grep -qE "^$key(\.|$)" <<<"$keys" || complain "$page names a key that does not exist: $key"
done < <(grep -roE '`(model|data|train|optim|schedule)\.[a-z_.]*[a-z_]' --include='*.md' docs course README.md | tr -d '`' | grep -vE ':(model\.(safetensors|onnx)|train\.loss|data\.json)$' | sort -u)

# The documents that heed claims names are those of docs/sources.md, which describes some at greater length.
while read -r id title; do
  grep -q "^- \*\*$id\*\* $title" <(tr -d '*' <docs/sources.md | sed -E 's/^- (S[0-4])/- **\1**/') ||
    complain "docs/sources.md: not as heed claims names it: $id $title"
done < <("$program" claims --only A16 | grep -E '^  S[0-4]  ')

# The course's contents name every chapter, and the exercises of each; bold ones are on the fast track.
for page in course/[0-9]*.md; do
  grep -q "^| \[$(sed -n 's/^# //p;q' "$page" | cut -d " " -f 1) .*]($(basename "$page")) |" course/README.md ||
    complain "course/README.md: no row for $(basename "$page")"
done
# docs/operations.md has every operation, and docs/classes.md every class of the layers, models, optimizers and data, with
# shapes, errors and an example, which are executed by other tests.
while read -r name; do
  grep -qE "^## (.*, )?$name(,|\$)" docs/operations.md || complain "docs/operations.md: no example of $name"
done < <(sed -nE '/^namespace fused/,/^}/d; s/^(Tensor|TopK|std::vector<Tensor>) ([a-z_]+)\(.*/\2/p' core/standard_ops.h core/more_ops.h | sort -u)
while read -r name; do
  grep -qE "^## (.*, )?$name(,|\$)" docs/classes.md || complain "docs/classes.md: no example of $name"
done < <(grep -hoE '^class [A-Z]\w+( final)? : public (Module|Model|Mixing|MultiHeadAttention|Positions|ScoreBias|Tap|Past)\b' core/*.h nn/*.h nn/forms/*.h | awk '{ print $2 }' | sort -u)
# Every other class of heed.h has a heading there too, or its comment says that clients do not need it.
headers=heed.h
while included=$({ printf '%s\n' $headers; sed -nE 's/^#include "([^"]+)".*/\1/p' $headers; } | sort -u) && [[ $included != "$headers" ]]; do
  headers=$included
done
undescribed=$(awk '
  FILENAME == ARGV[1] { if (sub(/^## /, "")) for (i = split($0, names, ", "); i; --i) described[names[i]]; next }
  /^ *\/\// { comment = comment " " substr($0, index($0, "//") + 3); next }
  /^(class|struct) [A-Z][A-Za-z]*( |$)/ && !/;$/ && !($2 in described) && comment !~ /lients do not need/ { print FILENAME ": " $2 }
  !/^template/ { comment = "" }' docs/classes.md $headers)
[[ ! $undescribed ]] || complain "docs/classes.md: no example, and no comment \"Clients do not need it\", of $undescribed"
for page in docs/operations.md docs/classes.md; do
  awk -v page=$page '
    function finish() { if (heading && !(shapes && errors && code)) print page ": no " (shapes ? errors ? "example" : "errors" : "shapes") " of " heading }
    /^## / { finish(); heading = substr($0, 4); shapes = errors = code = 0 }
    /^Shapes( of .*)?: / { shapes = 1 }
    /^Errors: |^error\(\[&\]/ { errors = 1 }
    /^```text/ { code = 1 }
    END { finish() }' $page
done | while read -r line; do complain "$line"; exit 1; done || failed=1
exercises=$("$program" course list --color never --folder /nonexistent | sed -nE 's/^  ([a-z-]+) .* min(, fast track)?.*/\1\2/p' | sort)
rows=$(grep '^| \[' course/README.md | cut -d '|' -f 4 | sed -E 's/\[([a-z-]+)\]\(exercises\/\1\/task.md\)/\1/g' | tr ',' '\n' | tr -d ' ' |
  sed -nE 's/^\*\*(.+)\*\*$/\1, fast track/; /^[a-z]/p' | sort)
diff <(echo "$rows") <(echo "$exercises") || complain "course/README.md has other exercises (<) than heed course (>)"

# Links lead to a file, and to a heading of it.
links_of() { sed '/^```/,/^```$/d' "$1" | grep -oE '\]\([^) ]+' | sed 's/^](//' | grep -v '^https\?:'; }
anchors_of() { sed '/^```/,/^```$/d' "$1" | LC_ALL=C.UTF-8 sed -nE '/^#+ /{s/^#+ //; s/\]\([^)]*\)//g; s/[^[:alnum:] _-]//g; s/ /-/g; s/.*/\L&/; p}'; }
while read -r page; do
  while IFS='#' read -r file anchor; do
    target=$(dirname "$page")/$file
    [[ $file ]] || target=$page
    [[ -e $target ]] || complain "$page: the link to $file leads nowhere"
    [[ ! $anchor || ! -e $target ]] || grep -qxF -- "$anchor" <(anchors_of "$target") ||
      complain "$page: $target has no heading #$anchor"
  done < <(links_of "$page")
done < <(find *.md docs course configs -name "*.md" | sort)
exit "$failed"
