#!/usr/bin/env bash
# The exercises of the course, as a learner and as a teacher call them.
#   exercises.sh PROGRAM quick    the verbs, answers that misbehave, and two exercises
#   exercises.sh PROGRAM all      every exercise: what is shipped fails, its solution passes
set -euo pipefail
program=$1
sources=$(dirname "$(readlink -f "$0")")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
answers=$work/answers
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }

# Calls heed course with arguments; sets output (both streams), code and last, its last line.
course() {
  code=0
  output=$("$program" course --folder "$answers" "$@" 2>&1) || code=$?
  last=${output##*$'\n'}
}
expect_code() { ((code == $1)) || complain "expected exit code $1, got $code of: ${*:2}: $output"; }
expect_text() { [[ $output == *"$1"* ]] || complain "expected '$1' from: ${*:2}: $output"; }
expect_last() { [[ $last == "$1" ]] || complain "expected '$1' as the last line of: ${*:2}: $output"; }

check_verbs() {
  local name=basic-attention
  course
  expect_code 0 list
  expect_text "  $name " list
  expect_text "start " list
  course list --json
  expect_text '"name": "basic-attention"' list --json
  expect_text '"state": "not started"' list --json
  course --fast
  awk '/^Other/ { bad = 1 } /^[0-9]+[.]/ { if (chapter && n != 1) bad = 1; chapter = $0; n = 0 } /^  / { ++n }
    END { exit bad || n != 1 }' <<<"$output" || complain "the fast track has not one exercise of each chapter: $output"
  course
  ! grep -E "^Other|  0 min" <<<"$output" || complain "an exercise without a chapter, or without minutes: $output"
  course next --fast
  expect_code 0 next
  course check
  expect_code 2 check without a name
  course check basic-atention
  expect_code 2 check of an unknown name
  expect_text "did you mean 'basic-attention'" check of an unknown name
  course check $name
  expect_code 1 check before start
  expect_last "not yet" check before start

  course start $name
  expect_code 0 start
  expect_text "# Basic attention" start
  expect_text "    yᵢ = Σⱼ wᵢⱼ xⱼ" the formulas of start
  expect_text "the scores are ((1, 0), (0, 4))" the formulas of start
  cmp -s "$answers/$name.cpp" "$sources/course/exercises/$name/exercise.cpp" || complain "start wrote another file"
  course start $name
  expect_code 2 start again
  course check --seed 5
  expect_code 1 check of what is shipped
  expect_text "seed 5" check --seed
  expect_text "nothing is computed yet" check of what is shipped
  expect_last "not yet" check of what is shipped
  first=$output
  course check --seed 5
  [[ $output == "$first" ]] || complain "the same seed says something else: $output"
  course show
  expect_code 1 show before it passes

  local hint hints
  hints=$(grep -cx -e --- "$sources/course/exercises/$name/hints.md")
  for ((hint = 1; hint <= hints + 1; ++hint)); do
    course hint
    expect_text "Hint $hint of $((hints + 1)):" hint
  done
  course hint
  expect_text "These are all hints" the last hint

  echo 'namespace heed::course { int basic_attention( }' >"$answers/$name.cpp"
  course check --json
  expect_code 1 check of what does not compile
  expect_text '"result": "does not compile"' check of what does not compile
  expect_text "$name.cpp:1:" check of what does not compile

  cp "$sources/tests/course/solutions/$name.cpp" "$answers"
  course check
  expect_code 0 check of the solution
  expect_last passed check of the solution
  expect_text "scaled_dot_product_attention" the background
  course show
  expect_code 0 show
  expect_text "Tensor fused::attention(" show
  expect_text "core/reference/attention.cpp:" show
  course list
  expect_text "1 of " list
  course reset
  expect_code 0 reset
  course list --json
  expect_text '"state": "started"' reset
  cmp -s "$answers/$name.cpp.old" "$sources/tests/course/solutions/$name.cpp" || complain "reset lost the answer"

  echo '{"current": 7}' >"$answers/progress.json"
  course
  expect_code 2 a damaged record
  expect_text "progress.json: the record of your progress is damaged" a damaged record
  rm "$answers/progress.json"
}

# The texts need no build. The library's own functions, and links as paths.
check_texts() {
  local texts=$sources/course/tutor/course.sh name names separator='' record
  names=$("$texts" names exercises)
  output=$("$texts" heed /nonexistent list --folder "$work/nobody")
  expect_text "heed course start tape" the list without a build
  [[ $(wc -w <<<"$names") == $(ls "$sources/course/exercises" | wc -l) ]] || complain "exercises that are not listed: $names"
  record='{"current": "", "exercises": {'
  for name in $names; do
    record+="$separator\"$name\": {\"passed\": true, \"hints\": 0}"
    separator=,
  done
  echo "$record}}" >"$answers/progress.json"
  for name in $names; do
    course show "$name"
    expect_code 0 show "$name"
    [[ $output =~ ^(core|nn|optim|course|apps|lab|data)/[a-z_0-9/]+\.(h|cpp):[0-9]+-[0-9]+ ]] || complain "show $name: $output"
  done
  course next
  expect_text "You have passed all" next
  rm "$answers/progress.json"
  output=$("$texts" shown "$sources/course/exercises/cross-entropy/background.md")
  expect_text "\`cross_entropy\` (core/ops/loss.cpp)" a link
  [[ $output != *"]("* ]] || complain "a link is left: $output"
  output=$("$texts" shown "$sources/course/exercises/tape/task.md")
  expect_text " course/exercises/tape/tape.h" a link to a path
  output=$("$texts" shown "$sources/course/exercises/rotary/hints.md")
  expect_text "[=](Backward& g)" code that is no link
}

# Without --folder, answers are in the folder of the sources, in answers/.
check_own_folder() {
  local sources_too=$work/heed
  mkdir -p "$work/build/bin" "$work/build/course" "$sources_too/course"
  cp "$program" "$work/build/bin/heed"
  sed "s|\"sources\": .*|\"sources\": \"$sources_too\",|" "$(dirname "$program")/../course/settings.json" >"$work/build/course/settings.json"
  ln -s "$(readlink -f "$sources/course")"/* "$sources_too/course"
  own() { code=0; output=$("$work/build/bin/heed" course "$@" 2>&1) || code=$?; }

  own start softmax
  cmp -s "$sources_too/answers/softmax.cpp" "$sources/course/exercises/softmax/exercise.cpp" || complain "start wrote elsewhere: $output"
}

# check --watch notices that the answer is saved, and ends when it passes.
check_watch() {
  local name=basic-attention waited process
  rm -f "$answers/$name.cpp"
  course start $name
  "$program" course check $name --watch --folder "$answers" >"$work/watch" 2>&1 &
  process=$!
  for ((waited = 0; waited < 600; ++waited)); do
    ! grep -q "waiting until" "$work/watch" || break
    sleep 0.1
  done
  cp "$sources/tests/course/solutions/$name.cpp" "$answers"
  wait $process || complain "--watch did not pass: $(<"$work/watch")"
  [[ $(tail -n 1 "$work/watch") == passed ]] || complain "--watch: $(<"$work/watch")"
  [[ $(grep -c "not yet" "$work/watch") == 1 ]] || complain "--watch: $(<"$work/watch")"
}

# An answer of a person, to basic-attention: a body of the function, and what is said about it.
declare -A said
answer() {
  mkdir -p "$work/class/$1"
  printf '%s\n' '#include <cstdio>' '#include <cstdlib>' '#include <unistd.h>' '#include "core/ops.h"' \
    'namespace heed::course { Tensor basic_attention(const Tensor& x) {' "$2" \
    'return matmul(softmax(matmul(x, transpose(x, 0, 1))), x); } }' >"$work/class/$1/basic-attention.cpp"
  said[$1]=$3
}

# Answers that misbehave get a clear answer, never pass, and leave nothing behind.
check_misbehaviour() {
  answer loop 'for (volatile int i = 0;; ++i) {}' "it does not end within 1 s"
  answer crash '*(volatile int*)0x123456789 = 1;' "it crashes, line 6"
  answer throws 'throw 7;' "throws something"
  answer after 'Tensor y = Tensor::zeros(x.shape()); y.mutable_data()[y.size()] = 1;' "outside of an array, line 6"
  answer recursion 'return basic_attention(x) + x;' "it calls itself without end"
  answer memory 'for (void* volatile p = nullptr;;) p = std::malloc(size_t{1} << 40);' "MiB of memory"
  answer garbage 'for (;;) std::printf("\x1b[31mpassed\n");' "it prints more than 64 KiB"
  answer file 'FILE* f = std::fopen("f", "w"); for (;;) std::fputs("aaaaaaaaaaaaaaaa", f);' "writes a file of more"
  answer exit 'std::exit(0);' "it ends the program (exit code 0)"
  answer pretends 'std::puts("passed"); std::fflush(stdout); (void)!write(3, "passed\n", 7); _exit(0);' "it ends the program"
  answer unwritten 'return Tensor::empty(x.shape());' "never written"
  mkdir -p "$work/class/"{early,empty,replaces,right}
  printf '#include <cstdlib>\nstatic const int early = (std::exit(0), 0);\n' >"$work/class/early/basic-attention.cpp"
  said[early]="it ends the program (exit code 0)"
  echo 'int nothing;' >"$work/class/empty/basic-attention.cpp"
  echo 'int nothing;' >"$work/class/empty/softmax.cpp"  # the library has one, which is not the learner's
  said[empty]="must be those of exercise.cpp"
  cat >"$work/class/replaces/basic-attention.cpp" <<'END'
#include "course/grader/grader.h"
namespace heed::course {
void grade_basic_attention(Grader&, Tensor (*)(const Tensor&)) {}
std::optional<Finding> run_grader(uint64_t, const std::function<void(Grader&)>&) { return {}; }
Tensor basic_attention(const Tensor& x) { return add(x, 0); }
}
END
  said[replaces]="This is x itself"
  cp "$sources/tests/course/solutions/"{basic-attention,softmax}.cpp "$work/class/right"
  echo 'int nothing;' >"$work/class/right/soft-max.cpp"
  # The element that backward needs was not kept, where only one argument requires a gradient.
  mkdir "$work/class/kept"
  sed 's/saved(a, b), bs = saved(b, a)/saved(a, a), bs = saved(b, b)/' \
    "$sources/tests/course/solutions/multiply-backward.cpp" >"$work/class/kept/multiply-backward.cpp"
  said[kept]="It reads or writes at a null pointer."
  # Files that an answer must not include: the solution, and another person's.
  mkdir "$work/class/"{copies,"from others",solved}
  echo '#include "tests/course/solutions/basic-attention.cpp"' >"$work/class/solved/basic-attention.cpp"
  said[solved]="That is the solution."
  echo '#include "../right/basic-attention.cpp"' >"$work/class/copies/basic-attention.cpp"
  said[copies]="An answer is one file."
  cp "$sources/tests/course/solutions/basic-attention.cpp" "$work/class/from others/mine .h"
  echo '#include "mine .h"' >"$work/class/from others/basic-attention.cpp"
  said["from others"]="An answer is one file."
  # One file handed in with the folder answers/, one without.
  mkdir -p "$work/class/inner/answers"
  cp "$sources/tests/course/solutions/basic-attention.cpp" "$work/class/inner/answers"
  cp "$sources/tests/course/solutions/softmax.cpp" "$work/class/inner"
  mkdir "$work/class/absent"
  # The library's own attention calls the learner's softmax: only it has scores of rank 4.
  mkdir "$work/class/called"
  sed 's/^  axis = x.*/  check(x.rank() < 4, "softmax: called by attention");\n&/' \
    "$sources/tests/course/solutions/softmax.cpp" >"$work/class/called/softmax.cpp"
  said[called]="a training with it fails: it throws 'softmax: called by attention'"

  local person row
  code=0
  output=$("$program" course check --answers "$work/class" --seconds 1 --folder "$answers" 2>&1) || code=$?
  expect_code 1 check --answers
  for person in "${!said[@]}"; do
    row=$(grep "^$person " <<<"$output") || row="no row"
    [[ $row == *"not yet"*"${said[$person]}"* && $row != *passed* ]] ||
      complain "$person: expected '${said[$person]}', got: $row"
  done
  [[ $(grep -c "^right .* passed" <<<"$output") == 2 ]] || complain "the right answers do not pass: $output"
  [[ $(grep -c "^inner .* passed" <<<"$output") == 2 ]] && grep -Eq "^inner +2 +0 +[0-9]+ *$" <<<"$output" ||
    complain "answers in folders that were handed in: $output"
  grep -Eq "^right +2 +0 +[0-9]+ +soft-max.cpp$" <<<"$output" && grep -Eq "^absent +0 +0 +[0-9]+ *$" <<<"$output" ||
    complain "the summary of the class: $output"
  course check --exercises softmax,heads --answers "$work/class" --json
  expect_code 1 check --exercises --json
  [[ $(grep -c '"passed": true' <<<"$output") == 2 ]] || complain "--answers --json: $output"
  expect_text '"largest_difference"' check --answers --json
  output=$(tr -d ' \n' <<<"$output")
  expect_text '"person":"absent","passed":0,"not_yet":0,"missing":["softmax","heads"],"unknown_files":[],"answers":[]' --json
  expect_text '"person":"right","passed":1,"not_yet":0,"missing":["heads"],"unknown_files":["soft-max.cpp"]' --json
  course check --exercises softmax,head --answers "$work/class"
  expect_code 2 check of an unknown name in a list
  course check --exercises softmax
  expect_code 2 --exercises without --answers
  course check --answers "$work/class" --exercises softmax --csv --json
  expect_text "choose one" --csv and --json
  course check --answers "$work/class" --week 1
  expect_text "--week belongs to --plan" --week
  echo 'weeks = 6' >"$work/plan.toml"
  course check --answers "$work/class" --plan "$work/plan.toml"
  expect_code 2 a plan that is none
  expect_text "plan.toml:1:" a plan that is none
  ! compgen -G "$(dirname "$program")/../course/answer-*" >/dev/null || complain "folders of answers are left"
  ! compgen -G "$answers/progress.json" >/dev/null || complain "--answers changed the progress"
}

check_all() {
  local folder name
  for folder in "$sources"/course/exercises/*/; do
    name=$(basename "$folder")
    mkdir -p "$work/class/shipped" "$work/class/solved"
    cp "$folder/exercise.cpp" "$work/class/shipped/$name.cpp"
    cp "$sources/tests/course/solutions/$name.cpp" "$work/class/solved/$name.cpp" ||
      complain "there is no tests/course/solutions/$name.cpp"
  done
  local table
  table=$("$program" course check --answers "$work/class" --folder "$answers" 2>&1) || true
  echo "$table"
  for folder in "$sources"/course/exercises/*/; do
    name=$(basename "$folder")
    grep -q "^shipped  *$name  *not yet" <<<"$table" || complain "$name passes as it is shipped"
    grep -q "^solved  *$name  *passed" <<<"$table" || complain "the solution of $name does not pass"
  done
}

# The program of chapter 14 takes the tile of an answer.
check_own_tile() {
  c++ -O1 -march=native -std=c++20 -I"$sources" -DTILE="\"$sources/tests/course/$1\"" "$sources/course/fast.cpp" -o "$work/fast" ||
    complain "course/fast.cpp does not compile with $1"
  output=$("$work/fast") || true  # 1 if a result is wrong
  [[ $output == *"your tile"*"$2" ]] || complain "course/fast.cpp: expected '$2' of $1"
}

if [[ $2 == all ]]; then
  check_all
  check_own_tile solutions/register-tile.cpp right
  check_own_tile ../../course/exercises/register-tile/exercise.cpp WRONG
else
  check_verbs
  check_texts
  check_own_folder
  check_watch
  rm "$answers/progress.json"
  check_misbehaviour
fi
exit $failed
