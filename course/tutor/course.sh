#!/usr/bin/env bash
# What `heed course` does with texts, without a build: it lists the exercises, shows tasks, hints and the library's
# own functions, keeps the progress, and prints what belongs around the verdict of a check, which heed-tutor gives
# (course/tutor.cpp).
#
#   course.sh HEED BUILD ARGUMENT…       ARGUMENT… as of `heed course`, but for the museum and --answers
#   course.sh HEED BUILD … --task        prints only the task of the exercise that ARGUMENT… names, and fails if the answer does not compile
#   course.sh names exercises|museum [--fast]
#                                        names of the folders there, in the order in which the chapters name them
#   course.sh shown FILE                 a text for a terminal: a link [name](path) is "name (path)"
#
# HEED is how the user calls heed, BUILD its build folder. Answers, and progress.json with how far the learner is, are in
# the folder --folder. The script runs with bash 3.2 and the tools of BSD, like the launcher.
set -euo pipefail
export LC_ALL=C  # one order of names everywhere
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exercises=$root/course/exercises

fail() { printf 'error: %s\n' "$*" >&2; exit 2; }

# catalogue KIND: one line for each item of course/KIND, in the order in which the chapters name them; those that none
# names come last. Fields, separated by tabs: name, chapter, title, minutes, whether it is on the fast track, number of hints.
catalogue() {
  local verb=start file=task.md
  [[ $1 == exercises ]] || { verb=museum file=exhibit.md; }
  awk -v words="heed course $verb " -v file="/$file" '
    FNR == 1 { heading = substr($0, 3); name = FILENAME; sub(/\/[^\/]*$/, "", name); sub(/.*\//, "", name) }
    FILENAME ~ /\/[0-9][^\/]*$/ {  # a chapter
      for (rest = $0; at = index(rest, words);) {
        rest = substr(rest, at + length(words))
        match(rest, /^[a-z0-9-]*/)
        named = substr(rest, 1, RLENGTH)
        if (!(named in chapter)) { chapter[named] = heading; order[++count] = named }
      }
      next
    }
    FILENAME ~ /hints[.]md$/ { hints[name] += $0 == "---"; next }
    substr(FILENAME, length(FILENAME) - length(file) + 1) != file { next }
    FNR == 1 { title[name] = heading; if (!(name in chapter)) order[++count] = name }
    FNR < 9 && match($0, /[0-9]+ minute/) { minutes[name] = substr($0, RSTART) + 0 }
    FNR < 9 && /On the fast track/ { fast[name] = 1 }
    END {
      for (i = 1; i <= count; ++i)
        if ((name = order[i]) in title)
          printf "%s\t%s\t%s\t%d\t%d\t%d\n", name, chapter[name], title[name], minutes[name], fast[name], hints[name] + 1
    }' "$root"/course/[0-9]*.md "$root/course/$1"/*/*.md
}

shown() {
  awk -v folder="${1#"$root"/}" '
    BEGIN { sub(/[^\/]*$/, "", folder) }
    { text = text $0 "\n" }
    END {
      while (at = index(text, "](")) {
        rest = substr(text, at + 2)
        target = substr(rest, 1, index(rest, ")") - 1)
        head = substr(text, 1, at - 1)
        if (target ~ / / || target !~ /[.]/) {  # code, such as [=](Backward& g)
          printf "%s](", head
          text = rest
          continue
        }
        match(head, /\[[^[]*$/)
        words = substr(head, RSTART + 1)
        path = target ~ /^https?:/ ? target : folder target
        while (sub(/[^\/]+\/[.][.]\//, "", path)) { }
        is_path = substr(path, length(path) - length(words) + 1) == words
        printf "%s%s", substr(head, 1, RSTART - 1), is_path ? path : words " (" path ")"
        text = substr(rest, length(target) + 2)
      }
      printf "%s", text
    }' "$1"
}

case ${1-} in
  names) catalogue "$2" | awk -F '\t' -v fast="${3-}" 'fast == "" || $5 { print $1 }'; exit ;;
  shown) shown "$2"; exit ;;
esac

heed=$1 build=$2
shift 2
verb='' name='' fast='' watch='' json='' task='' seed='' seconds=5 folder=$root/answers color=auto
while (($#)); do
  case $1 in
    --fast | --watch | --json | --task) printf -v "${1#--}" yes ;;
    --seed | --seconds | --folder | --color)
      (($# > 1)) || fail "$1 needs a value; $heed course --help describes it"
      printf -v "${1#--}" %s "$2"
      shift ;;
    --seed=* | --seconds=* | --folder=* | --color=*)
      option=${1#--}
      printf -v "${option%%=*}" %s "${option#*=}" ;;
    -*) fail "$1: no such option; $heed course --help lists them" ;;
    *) if [[ ! $verb ]]; then verb=$1; elif [[ ! $name ]]; then name=$1; else fail "$1: one exercise at a time"; fi ;;
  esac
  shift
done
[[ $seed$seconds =~ ^[0-9]*[.]?[0-9]*$ && $seconds ]] || fail "--seed and --seconds: expected a number"
case $color in (auto) [[ -t 1 && ! ${NO_COLOR-} && ${TERM-} != dumb ]] || color=never ;; esac

# Progress: the exercise that was started or checked last, and a line "NAME PASSED HINTS" for each that was touched.
record=$folder/progress.json current='' progress=''
if [[ -e $record ]]; then
  entry='"[a-z0-9-]+":[{]"passed":(true|false),"hints":[0-9]+[}]'
  whole="^[{]\"current\":\"([a-z0-9-]*)\",\"exercises\":[{](($entry,)*$entry)?[}][}]$"
  [[ $(tr -d ' \n' <"$record") =~ $whole ]] ||
    fail "$record: the record of your progress is damaged; remove it, and check your answers again"
  current=${BASH_REMATCH[1]}
  progress=$(tr '}' '\n' <<<"${BASH_REMATCH[2]}" | tr -s '{}",:' ' ' | awk 'NF { print $1, $3, $5 }')
fi
# save NAME PASSED HINTS: records it, with NAME as the current exercise.
save() {
  mkdir -p "$folder"
  { awk -v name="$1" '$1 != name' <<<"$progress"; echo "$@"; } | sort | awk -v current="$1" '
    BEGIN { printf "{\"current\": \"%s\", \"exercises\": {", current }
    NF { printf "%s\n  \"%s\": {\"passed\": %s, \"hints\": %d}", comma, $1, $2, $3; comma = "," }
    END { print "\n}}" }' >"$record.new"
  mv "$record.new" "$record"
}

# The catalogue with two more fields: the state of the exercise, and the number of hints that were shown.
list=$({
  sed 's/^/passed /' <<<"$progress"
  (cd "$folder" 2>/dev/null && printf 'started %s\n' *.cpp) || true
  catalogue exercises
} | awk -F '\t' '
  /^passed / { split($0, word, " "); passed[word[2]] = word[3] == "true"; hints[word[2]] = word[4]; next }
  /^started / { started[substr($0, 9, length($0) - 12)] = 1; next }
  { print $0 "\t" (passed[$1] ? "passed" : started[$1] ? "started" : "") "\t" hints[$1] + 0 }')
listed=$list
[[ ! $fast ]] || listed=$(awk -F '\t' '$5' <<<"$list")
# The first exercise that was started and not passed, else the first after the last that was passed, else the first.
upcoming() {
  awk -F '\t' '
    $7 == "passed" { after = ""; next }
    $7 && !open { open = $0 }
    !after { after = $0 }
    !first { first = $0 }
    END { if (first) print open ? open : after ? after : first }' <<<"$listed"
}
# What to type for the next exercise, given as a line of the list.
command_for() { awk -F '\t' -v heed="$heed" '{ print heed " course " ($7 ? "check" : "start") " " $1 }' <<<"$1"; }

print_list() {
  awk -F '\t' '
    function width(text) { gsub(/[\200-\277]/, "", text); return length(text) }  # characters of UTF-8
    function padded(text, columns) { while (width(text) < columns) text = text " "; return text }
    { line[NR] = $0; if (width($1) > names) names = width($1); if (width($3) > titles) titles = width($3) }
    END {
      for (i = 1; i <= NR; ++i) {
        split(line[i], field, "\t")
        if (field[2] == "") field[2] = "Other"
        if (i == 1 || field[2] != chapter) print chapter = field[2]
        row = "  " padded(field[1], names) "  " padded(field[3], titles) "  "
        row = row padded(field[4] " min" (field[5] ? ", fast track" : ""), 18) "  " field[7]
        sub(/ +$/, "", row)
        print row
        passed += field[7] == "passed"
      }
      printf "\n%d of %d passed. ", passed, NR
    }' <<<"$listed"
  local next
  next=$(upcoming)
  echo ${next:+"Next: $(command_for "$next")"}
}
print_json() {
  awk -F '\t' '
    { gsub(/["\\]/, "\\\\&") }
    { printf "%s  {\"name\": \"%s\", \"title\": \"%s\", \"chapter\": \"%s\", \"minutes\": %d, ", NR == 1 ? "[\n" : ",\n", $1, $3, $2, $4 }
    { printf "\"fast_track\": %s, \"state\": \"%s\", ", $5 ? "true" : "false", $7 ? $7 : "not started" }
    { printf "\"hints_shown\": %d, \"hints\": %d}", $8, $6 }
    END { print "\n]" }' <<<"$listed"
}
print_next() {
  local next
  next=$(upcoming)
  [[ $next ]] || { echo "You have passed all exercises."; return; }
  awk -F '\t' '{ print $1 ": " $3 ", " $4 " minutes"; if ($2 != "") print "Chapter " $2 }' <<<"$next"
  command_for "$next"
}

case ${verb:-list} in
  list) if [[ $json ]]; then print_json; else print_list; fi; exit ;;
  next) print_next; exit ;;
  start | check | hint | reset | show) ;;
  *) fail "$verb: expected list, next, start, check, hint, reset, show or museum" ;;
esac

# The words that are closest to a name, by the number of letters to change, to add and to leave out; at most three.
closest() {
  awk -v a="$1" '
    { for (j = 0; j <= length($1); ++j) row[j] = j }
    { for (i = 1; i <= length(a); ++i) {
        diagonal = row[0]
        row[0] = i
        for (j = 1; j <= length($1); ++j) {
          least = diagonal + (substr(a, i, 1) != substr($1, j, 1))
          diagonal = row[j]
          if (row[j] + 1 < least) least = row[j] + 1
          if (row[j - 1] + 1 < least) least = row[j - 1] + 1
          row[j] = least
        }
      }
      if (row[length($1)] < (found ? best : 4)) { best = row[length($1)]; found = $1 } }
    END { if (found) printf ", did you mean '\''%s'\''?", found }' <<<"$list"
}

name=${name:-$current}
[[ $name ]] || fail "which exercise? give its name; $heed course lists them"
own=$(awk -F '\t' -v name="$name" '$1 == name' <<<"$list")
[[ $own ]] || fail "no exercise is called '$name'$(closest "$name"); $heed course lists them"
field() { cut -f "$1" <<<"$own"; }
passed=$([[ $(field 7) != passed ]] && echo false || echo true)
file=$folder/$name.cpp
file=${file#"$PWD"/}
if [[ $task ]]; then
  shown "$exercises/$name/task.md"
  [[ ! -e $file ]] || c++ -std=c++20 -fsyntax-only -I"$root" "$file" || { printf '\n%s\n' "$file does not compile: not yet"; exit 1; }
  exit
fi

start() {
  [[ ! -e $file ]] || fail "$file exists: it is your answer; $heed course reset $name starts again"
  save "$name" "$passed" "$(field 8)"
  cp "$exercises/$name/exercise.cpp" "$file"
  shown "$exercises/$name/task.md"
  printf '\nWrite it in %s, then: %s course check %s\n' "$file" "$heed" "$name"
}
reset() {
  mkdir -p "$folder"
  [[ ! -e $file ]] || mv "$file" "$file.old"
  cp "$exercises/$name/exercise.cpp" "$file"
  save "$name" false 0
  echo "$file is as at the start; what it was is in $file.old"
}
hint() {
  local count first last more=yes
  count=$(field 6)
  last=$(($(field 8) + 1))
  first=$last
  ((last <= count)) || more='' first=1 last=$count
  shown "$exercises/$name/hints.md" | awk -v first=$first -v last=$last -v count="$count" '
    BEGIN { number = 1; head = "Hint 1 of " count ": " }
    $0 == "---" { head = (number >= first ? "\n" : "") "Hint " number + 1 " of " count ": "; ++number; next }
    number >= first && number <= last { print head $0; head = "" }'
  [[ $more ]] || echo $'\nThese are all hints.'
  save "$name" "$passed" "$last"
}
# The first function of the library that the background links to, [`name`](../../../core/x.cpp), and those that " and "
# joins to it: lines, with the comment above.
show() {
  local function path
  awk '{ text = text $0 "\n" }
    END {
      link = "\\[`[^`]+`\\]\\([.][.]/[.][.]/[.][.]/[^)]+\\)"
      if (!match(text, link)) exit 1
      for (text = substr(text, RSTART); match(text, "^" link); text = substr(text, RLENGTH + 6)) {
        one = substr(text, 3, RLENGTH - 3)
        print substr(one, 1, index(one, "`") - 1) "\t" substr(one, index(one, "/../../") + 7)
        if (substr(text, RLENGTH + 1, 5) != " and ") break
      }
    }' "$exercises/$name/background.md" | while IFS=$'\t' read -r function path; do
    awk -v name="$function" -v path="$path" '
      function names(line, name,   at) {
        at = index(line, name)
        return at && line !~ /^(#| *\/\/)/ && index(" :*&", at == 1 ? " " : substr(line, at - 1, 1)) &&
               index("( ;", substr(line " ", at + length(name), 1))
      }
      { line[NR] = $0 }
      END {
        for (i = NR; i; --i) if (line[i] ~ /^[^ ].*[^;]$/ && names(line[i], name)) first = i
        sub(/.*::/, "", name)
        for (i = first ? 0 : NR; i; --i) if (names(line[i], name)) first = i  # a declaration, such as of a member
        if (!first) exit 1
        match(line[last = first], /^ */)
        end = substr(line[first], 1, RLENGTH) "}"
        if (line[first] !~ /;/) while (index(line[last], end) != 1) if (++last > NR) exit 1
        while (line[first - 1] ~ /^ *\/\//) --first
        printf "%s:%d-%d\n\n", path, first, last
        for (i = first; i <= last; ++i) print line[i]
        print ""
      }' "$root/$path"
  done
}

painted() { if [[ $color == never ]]; then echo "$2"; else printf '\033[%sm%s\033[0m\n' "$1" "$2"; fi; }
# Prints the verdict. Returns whether the answer passes.
check() {
  local code=0 own_seed=${seed:-$(((RANDOM * 32768 + RANDOM) % 1000000))}
  [[ $json ]] || echo "$(field 3), seed $own_seed"
  "$build/bin/heed-tutor" "$name" "$file" "$own_seed" "$seconds" ${json:+--json} || code=$?
  ((code < 2)) || exit $code
  ((code == 1)) || passed=true
  save "$name" "$passed" "$(field 8)"
  [[ ! $json ]] || return $code
  if ((code == 0)); then
    printf '\n%s\n\n%s\n' "$(shown "$exercises/$name/background.md")" "$heed course show $name shows the library's own"
    painted 32 passed
  else
    [[ -e $file ]] && printf '\n%s\n' "$heed course hint $name helps" || printf '\n%s\n' "Begin with $heed course start $name"
    painted 31 "not yet"
  fi
  return $code
}
watch() {
  local before
  trap 'exit 1' INT TERM
  until
    before=$(cksum "$file" 2>/dev/null || true)
    check
  do
    echo "waiting until $file is saved; Ctrl-C ends it" >&2
    while [[ $(cksum "$file" 2>/dev/null || true) == "$before" ]]; do sleep 0.2; done
  done
}

case $verb in
  check)
    [[ -x $build/bin/heed-tutor ]] || fail "$build/bin/heed-tutor: not built; ./heed course check builds it, or ninja -C $build heed_graders"
    if [[ $watch ]]; then watch; else check; fi ;;
  show)
    [[ $passed == true ]] || { printf '%s\n' "$heed course show $name shows the library's own function once yours passes" "not yet"; exit 1; }
    show ;;
  *) "$verb" ;;
esac
