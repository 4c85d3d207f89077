#!/usr/bin/env bash
# Evaluation and generation by several processes print and write the bytes of one, and a sweep starts such runs.
#
#   ranks_evaluate.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
tests=$(dirname "$(readlink -f "$0")")
source "$tests/runs.sh"
source "$tests/mpi.sh"
launchers=("${found[@]/#/mpirun.}")

# One small run of each kind of model: pairs of texts (BLEU), labelled lines, lines of text, and a task with problems.
words=(red green blue one two three)
for i in $(seq 200); do
  a=${words[i % 6]} b=${words[i * i % 5]} c=${words[i / 7 % 6]}
  printf '%s %s %s\t%s %s %s %s\n' $a $b $c $c $b $a $a
done >pairs.txt
cut -f1 pairs.txt | sed -E "s/^.*(red.*one|two).*\$/&\tyes/; t; s/\$/\tno/" >labelled.txt
cut -f1 pairs.txt >lines.txt
config() {  # config NAME MODEL DATA…: a config of a training of a tenth of a second
  local name=$1 model=$2
  shift 2
  { sed -n '/\[model\]/q; p' tiny.toml; printf '[model]\nkind = "%s"\nlayers = 1\ndim = 8\nheads = 1\n[data]\n' "$model"
    printf '%s\n' "$@"; } >$name.toml
  "$program" train $name.toml --run $name >out 2>err || { cat err >&2; fail "$name: training"; }
}
config pairs seq2seq 'kind = "pairs"' 'path = "pairs.txt"' 'level = "word"'
config labelled classifier 'kind = "labelled"' 'path = "labelled.txt"' 'level = "word"'
config lines language_model 'kind = "lines"' 'path = "lines.txt"' 'level = "character"'
config sorted language_model 'kind = "sort"' 'symbols = 5' 'lengths = [1, 6]' 'train_size = 200' 'val_size = 150' 'test_size = 150'

{ cut -f1 pairs.txt; echo; echo "no such words"; head -n 130 lines.txt; } >input.txt

# same ARGUMENT…: fails unless heed in several processes prints, logs as errors and writes what one process does. The calls
# take turns at the MPIs.
same() {
  local expected=0 code=0 launcher=${launchers[0]} count=2
  [[ $* != *pairs* ]] || count=4
  launchers=("${launchers[@]:1}" "$launcher")
  rm -f written
  "$program" "$@" <input.txt >out 2>err || expected=$?
  rm -f written.expected
  if [[ -e written ]]; then mv written written.expected; fi
  timeout -k 5 60 "$launcher" -n "$count" "$program" "$@" <input.txt >out.ranks 2>err.ranks || code=$?
  [[ $code == "$expected" ]] || { cat err.ranks >&2; fail "$launcher $*: exit code $code, expected $expected"; }
  cmp out out.ranks || { diff -a out out.ranks | head -n 20; fail "$launcher $*"; }
  diff <(errors err) <(errors err.ranks) || fail "$launcher $*: errors"
  if [[ -e written.expected ]]; then cmp written written.expected || fail "$launcher $*: the file"; fi
}

for _ in "${launchers[@]}"; do same evaluate pairs --beam 3 --predictions written; done
same evaluate labelled --predictions written --json
same evaluate sorted --split val --predictions written
same evaluate lines --input - --json
same evaluate pairs --split none
same generate pairs --n-best 3 --json
same generate labelled --n-best 2 --scores --unknown skip
same generate lines --input - --count 3 --seed 7 --scores
same generate lines --input lines.txt --beam 2 --length 8 --json
same generate lines --prompt red --count 100 --scores
same generate lines --input missing.txt

# Lines are answered as they arrive.
coproc answers { "${launchers[0]}" -n 2 "$program" generate pairs; }
for i in 1 2; do
  echo "red one" >&"${answers[1]}"
  read -r -t 20 -u "${answers[0]}" || fail "${launchers[0]}: line $i has no answer"
done
exec {answers[1]}>&-
wait "$answers_PID"

"$program" --help | grep -q '^  sweep ' || exit 0  # a build without lab

# A sweep starts its runs with mpirun, and shows their error, not mpirun's message about it.
cat >shards.toml <<'TOML'
base = "pairs.toml"
[train]
shards = 2
best_by = "bleu"
TOML
cat >grid.toml <<'TOML'
config = "shards.toml"
seeds = [1]
[axes]
"optim.lr" = [1e-2, 1e30]
TOML
"$program" sweep grid.toml --run alone >out 2>err && fail "the sweep did not fail"
problem=$(grep '^error' err)
[[ $problem == *" is NaN; lower optim.lr"* || $problem == *" is infinity; lower optim.lr"* ]] || { cat err >&2; fail "another error than a loss that is not finite"; }
for launcher in "${launchers[@]}"; do
  timeout -k 5 60 "$program" sweep grid.toml --run "$launcher" --jobs 2 --launcher "$launcher -n 2" >out 2>err &&
    fail "$launcher: the sweep did not fail"
  diff <(echo "$problem") <(errors err) || fail "$launcher: another error"
  same_run alone/lr=0.01/seed-1 "$launcher/lr=0.01/seed-1" || fail "$launcher: another run"
  grep -q '"ranks": 2' "$launcher/lr=0.01/seed-1/run.json" || fail "$launcher: run.json"
done
if grep -q ranks alone/*/*/run.json; then fail "run.json of one process has ranks"; fi
