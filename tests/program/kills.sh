#!/usr/bin/env bash
# Kills runs (SIGKILL) at random times and resumes them. At the end they must be bitwise identical to uninterrupted
# runs: weights, optimizer state, metrics and scores. Half of the kills are at any time, including startup and resuming.
# The other half are while a checkpoint or a snapshot is being written.
#
#   kills.sh PROGRAM [KILLS [SEED]]
set -euo pipefail
program=$(readlink -f "$1")
kills=${2:-30}
RANDOM=${3:-1}
source "$(dirname "$(readlink -f "$0")")/runs.sh"

cat >base.toml <<'TOML'
seed = 7
threads = 1
[train]
steps = 40
batch_size = 6
evaluate_every = 15
checkpoint_every = 10
log_every = 3
samples = 0
[model]
layers = 1
dim = 32
heads = 2
[optim]
lr = 3e-3
[data]
symbols = 10
lengths = [1, 8]
train_size = 100
val_size = 40
test_size = 40
TOML
# Dropout, two micro-batches per step in two shards, epochs that end within a step, and a schedule with state.
cat >plateau.toml <<'TOML'
base = "base.toml"
[train]
accumulate = 2
shards = 2
[model]
kind = "seq2seq"
dropout = 0.1
attention_dropout = 0.1
[schedule]
kind = "plateau"
factor = 0.5
patience = 0
threshold = 0.05
[data]
kind = "reverse"
TOML
# Measures of a program that has lab/: they must not change a bit.
measures='[]'
if grep -q '^ *inspect ' <("$program" --help); then measures='["heads", "ablate", "lens"]'; fi
cat >language.toml <<TOML
base = "base.toml"
[train]
keep_checkpoints = 3
measures = $measures
measure_every = 5
[model]
kind = "language_model"
dropout = 0.1
tie_weights = true
[optim]
kind = "sgd"
momentum = 0.9
[data]
kind = "sort"
TOML
cat >classifier.toml <<'TOML'
base = "base.toml"
[train]
accumulate = 3
patience = 4
[model]
kind = "classifier"
attention_dropout = 0.2
[schedule]
kind = "cosine"
warmup_steps = 10
[data]
kind = "set"
lengths = [2, 8]
TOML
configs=(plateau language classifier)
milliseconds() { echo "${EPOCHREALTIME/./}" | sed 's/...$//'; }
declare -A duration
for config in "${configs[@]}"; do
  start=$(milliseconds)
  "$program" train "$config.toml" --run "$config" >out 2>&1 || { cat out >&2; fail "$config: the uninterrupted run failed"; }
  duration[$config]=$(($(milliseconds) - start))
done
"$program" train language.toml --run plain --set train.measures=[] >out 2>&1 || { cat out >&2; fail "without measures"; }
for file in model optimizer; do
  cmp plain/checkpoints/latest/$file.safetensors language/checkpoints/latest/$file.safetensors || fail "measures change $file"
done
# Sleeps for a random time of less than $1 milliseconds.
sleep_up_to() {
  local time=$(((RANDOM * 32768 + RANDOM) % $1))
  sleep "$((time / 1000)).$(printf %03d $((time % 1000)))"
}

being_written() { compgen -G "killed/*/.tmp-step-*" >/dev/null; }

killed=0 halves=0 runs=0 resumed=0
while ((killed < kills)); do
  config=${configs[runs % ${#configs[@]}]}
  rm -rf killed
  last=0
  while :; do
    [[ -e killed/config.toml ]] && resumed=$((resumed + 1))
    "$program" train "$config.toml" --resume --run killed >out 2>&1 &
    pid=$!
    sleep_up_to "${duration[$config]}"
    if ((RANDOM % 2)); then
      while kill -0 "$pid" 2>/dev/null && ! being_written; do :; done
    fi
    status=0
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || status=$?
    [[ $status == 0 ]] && break
    [[ $status == 137 ]] || { cat out >&2; fail "$config: exit code $status after $killed kills"; }
    killed=$((killed + 1))
    if being_written; then halves=$((halves + 1)); fi
    step=$(newest killed)
    ((${step:-0} >= last)) || fail "$config: step $last was lost, the newest is ${step:-none}"
    last=${step:-0}
  done
  runs=$((runs + 1))
  same_run "$config" killed >&2 || fail "$config: differs after $killed kills"
  if being_written; then fail "$config: a half-written checkpoint or snapshot was left behind"; fi
done
((halves > 0 && resumed > 0)) || fail "no kill interrupted the writing of weights, or no run was resumed"
echo "$killed kills in $runs runs, $resumed resumed, $halves while weights were being written: 0 lost, 0 different"
