#!/usr/bin/env bash
# Applies the examples of CONTRIBUTING.md to a copy of the sources, builds it and runs what they add.
#   run.sh task BUILD COMPILER     only the task, trained by the program of a build, and the command, the similarity, the
#                                  schedule and the layer, which must include what they use (seconds)
#   run.sh all                     every example, in a build of its own (minutes)
set -euo pipefail
type git &>/dev/null || { echo "skipped: git is not installed, which applies the examples"; exit; }
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/heed
mkdir "$copy"
tar -C "$root" --exclude=./build --exclude=./.git --exclude=./runs -c . | tar -C "$copy" -x

# Applies the code blocks below the heading $1, or below every heading: a block is the file, or an addition to the
# file, that the text before it names last.
apply() {
  (cd "$copy" && awk -v heading="$1" '
    function finish() {
      if (kind == "diff") {
        patch = sprintf("%s.%d.patch", ENVIRON["work"] "/part", ++parts)
        printf "--- a/%s\n+++ b/%s\n@@ -1,%d +1,%d @@\n%s", file, file, old, new, text > patch
        close(patch)
        if (system("git apply --recount --unidiff-zero -C1 " patch)) { print "CONTRIBUTING.md: cannot be applied: " file; exit bad = 1 }
      } else if (file != "") {
        printf "%s", text > file
        close(file)
      }
      file = ""
    }
    /^## / { active = heading == "" || $0 == "## " heading }
    /^```/ && kind { if (active) finish(); kind = ""; next }
    kind { text = text $0 "\n"; if (/^\+/) ++new; else { ++new; ++old }; next }
    /^```/ { kind = substr($0, 4); text = ""; old = new = 0; next }
    { line = $0; while (match(line, /`[a-z_0-9\/]+\.(h|cpp|py|toml)`/)) { file = substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) } }
    END { exit bad }' CONTRIBUTING.md)
}
export work

settings=(--set train.steps=4 --set train.log_every=1 --set train.samples=0)
if [[ $1 == task ]]; then
  apply "A task"
  "$2/bin/heed" train "$copy/configs/tasks/rotate.toml" --run "$work/run" "${settings[@]}"
  for heading in command similarity schedule; do apply "A $heading"; done
  for file in apps/commands/count nn/forms/euclidean optim/schedules/quadratic; do
    "$3" -std=c++20 -fsyntax-only -fopenmp -I"$copy" "$copy/$file.cpp"
  done
  apply "A layer"
  echo 'int main() { return heed::Scaled(2).parameter_count() != 8; }' >"$work/layer.cpp"
  "$3" -std=c++20 -fsyntax-only -I"$copy" -include "$copy/nn/scaled.h" "$work/layer.cpp"
  exit
fi

apply ""
cd "$copy"
cmake --preset release -DCMAKE_BUILD_TYPE=None >/dev/null  # without optimisation, which takes longer to build
ninja -C build/release --quiet test_core_f64
(cd build/release/tests && ./test_core_f64 -tc="*op table: functions of one*,*op table: every activation*,*activation*")
ninja -C build/release --quiet heed_program
heed=build/release/bin/heed
"$heed" train configs/reverse.toml --run "$work/one" "${settings[@]}" --set model.activation=softsign \
  --set schedule.kind=quadratic --set model.attention.similarity=euclidean
[[ $("$heed" count configs/sort.toml) == 85728 ]]
"$heed" --help | grep -q "^  count "
echo "every example of CONTRIBUTING.md was applied, compiled and run"
