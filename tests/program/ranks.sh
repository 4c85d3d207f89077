#!/usr/bin/env bash
# Trainings by several processes (MPI): the same bits as by one, whatever their number, also if one is killed and another
# number resumes. Uses every MPI that is installed (Debian: openmpi-bin, mpich) and built (targets heed_openmpi, heed_mpich).
#
#   ranks.sh PROGRAM [quick|all [LIBRARY]]    all: every number of processes for every config and MPI; a hundred kills
#                                             LIBRARY: tests/program/faults.cpp
set -euo pipefail
program=$(readlink -f "$1")
scale=${2:-quick}
library=${3:+$(readlink -f "$3")}
RANDOM=1
tests=$(dirname "$(readlink -f "$0")")
source "$tests/runs.sh"
source "$tests/mpi.sh"

# on MPI RANKS ARGUMENT…: heed in so many processes; 1: without MPI. The output goes to ./out. Open MPI's mpirun may wait for
# a lock of its own for ever when its processes have ended (libpmix 4.2.2, pmix_rte_finalize), also after SIGTERM.
on() {
  local launch=(mpirun."$1" -n "$2")
  (($2 > 1)) || launch=()
  timeout -k 5 120 "${launch[@]}" "$program" "${@:3}" >out 2>&1
}

sed '/^\[data\]/,$d' tiny.toml >without_data.toml
cat >base.toml <<'TOML'
base = "without_data.toml"
threads = 1
[train]
batch_size = 8
shards = 8
statistics = true
TOML
cat >language.toml <<TOML
base = "base.toml"
[train]
measures = $(measures)
[data]
kind = "sort"
symbols = 3
lengths = [4, 4]
TOML
cat >seq2seq.toml <<'TOML'
base = "base.toml"
[train]
batch_size = 16
accumulate = 2
[model]
kind = "seq2seq"
attention_dropout = 0.1
[optim]
ema = 0.9
[data]
kind = "reverse"
symbols = 10
lengths = [1, 8]
train_size = 100
val_size = 40
test_size = 40
TOML
cat >images.toml <<'TOML'
base = "base.toml"
[model]
kind = "classifier"
[optim]
kind = "sgd"
momentum = 0.9
[schedule]
kind = "plateau"
patience = 0
[data]
kind = "shapes"
train_size = 100
val_size = 40
test_size = 40
TOML
cat >graph.toml <<'TOML'
base = "base.toml"
[train]
average_checkpoints = 3
[model]
kind = "classifier"
[data]
kind = "graph"
lengths = [3, 8]
train_size = 100
val_size = 40
test_size = 40
TOML
cat >stream.toml <<'TOML'
base = "base.toml"
[data]
kind = "examples"
level = "word"
command = ["sh", "generator.sh"]
val_size = 40
test_size = 40
TOML
# Example n of a split depends on n, the seed and the split alone.
cat >generator.sh <<'SH'
awk -v split_="$2" -v seed="$4" -v n="$6" 'BEGIN {
  for (;; ++n) {
    sum = 0
    line = split_
    for (i = 0; i < 6; ++i) { digit = (n * (i + 3) + n * n + seed) % 7; sum += digit; line = line " d" digit }
    printf "{\"input\": \"%s\", \"target\": \". . . . . . d%d\"}\n", line, sum % 7
  }
}'
SH
configs=(language seq2seq images graph stream)
declare -A milliseconds
for config in "${configs[@]}"; do
  start=${EPOCHREALTIME/./}
  on none 1 train "$config.toml" --run "$config" || { cat out >&2; fail "$config: one process failed"; }
  milliseconds[$config]=$(((${EPOCHREALTIME/./} - start) / 1000))
done

# same CONFIG MPI RANKS
trainings=0
same() {
  rm -rf run
  on "$2" "$3" train "$1.toml" --run run || { cat out >&2; fail "$1: $3 processes of $2 failed"; }
  same_run "$1" run >&2 || fail "$1: $3 processes of $2 differ from one"
  trainings=$((trainings + 1))
}
if [[ $scale == all ]]; then
  for config in "${configs[@]}"; do
    for mpi in "${found[@]}"; do
      for ranks in 2 4 8; do same "$config" "$mpi" "$ranks"; done
    done
  done
else
  same language "${found[-1]}" 4
  same seq2seq "${found[0]}" 2
  same images "${found[-1]}" 2
  same graph "${found[0]}" 4
  same stream "${found[-1]}" 2
fi

# A process that is killed ends all, and loses no checkpoint. Another number of processes, of another MPI, resumes.
processes() { pgrep -f "^$program train [a-z0-9]*.toml --resume --run killed" || true; }
kills=3 killed=0 slowest=0
[[ $scale == quick ]] || kills=100
while ((killed < kills)); do
  config=${configs[killed % ${#configs[@]}]}
  rm -rf killed
  last=0
  for ((status = 1; status != 0;)); do
    mpi=${found[RANDOM % ${#found[@]}]}
    on "$mpi" $((2 << RANDOM % 3)) train "$config.toml" --resume --run killed &
    job=$!
    wait=$((300 + RANDOM % (2 * ${milliseconds[$config]} + 500)))
    sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
    mapfile -t running < <(processes)
    start=${EPOCHREALTIME/./} took=-1
    if ((killed < kills && ${#running[@]} > 0)) && kill -KILL "${running[RANDOM % ${#running[@]}]}" 2>/dev/null; then
      # mpirun kills the others, and may end just before they are gone, or later.
      while mapfile -t running < <(processes); took=$(((${EPOCHREALTIME/./} - start) / 1000)); ((${#running[@]} > 0)); do
        ((took < 10000)) || { ps -o stat,args "${running[@]}" >&2 || true; fail "$config: the others ended only after $took ms"; }
        sleep 0.01
      done
    fi
    status=0
    wait "$job" || status=$?
    ((status == 0)) && break
    ((took >= 0)) || { cat out >&2; fail "$config: exit code $status, and no process was killed"; }
    ((took <= slowest)) || slowest=$took
    killed=$((killed + 1))
    step=$(newest killed)
    ((${step:-0} >= last)) || fail "$config: step $last was lost, the newest is ${step:-none}"
    last=${step:-0}
  done
  same_run "$config" killed >&2 || fail "$config: differs after $killed kills"
done

# A process that is stopped, as one whose machine has vanished, gives no sign of life. The others end, name it, and the
# run resumes.
stopped=0
for mpi in "${found[@]}"; do
  for lost in 0 1 3; do
    rm -rf killed
    on "$mpi" 4 train language.toml --resume --run killed --set train.steps=1000000 --set train.rank_timeout=2 &
    job=$!
    while [[ -z $(newest killed) ]]; do sleep 0.05; done
    for process in $(processes); do
      tr '\0' '\n' <"/proc/$process/environ" | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$lost" && kill -STOP "$process"
    done
    status=0
    wait "$job" || status=$?
    # mpirun lets the stopped process go on before it ends it.
    named="process $lost of 4 gave no sign of life for 2 s: "
    [[ $status == 1 && $(errors out) == *"$named"* ]] &&
      ! errors out | grep -qv -e "$named" -e 'another process has ended' ||
      { cat out >&2; fail "$mpi: exit code $status after process $lost was stopped"; }
    for ((waited = 0; waited < 100; ++waited)); do [[ -n $(processes) ]] || break; sleep 0.1; done
    [[ -z $(processes) ]] || fail "$mpi: processes are left after process $lost was stopped"
    last=$(newest killed)
    on none 1 train language.toml --resume --run killed --set train.steps=1000000 --until $((last + 10)) ||
      { cat out >&2; fail "$mpi: does not resume after process $lost was stopped"; }
    [[ $(newest killed) == "$((last + 10))" ]] || fail "$mpi: step $(newest killed) instead of $((last + 10))"
    stopped=$((stopped + 1))
  done
done

# A process that evaluates, or writes a checkpoint, for longer than the others would wait for a silent one.
if [[ -n $library ]]; then
  options=(train language.toml --run slow --set train.log_every=1000)
  FAULT_FOLDER=$work/slow FAULT_LIST=calls LD_PRELOAD=$library on none 1 "${options[@]}"
  mv slow fast
  for mpi in "${found[@]}"; do
    for file in metrics.jsonl checkpoints/.tmp-step-20/.tmp-model.safetensors; do
      rm -rf slow
      call=$(grep -n "^write $work/slow/$file" calls | sed -n '2{s/:.*//;p}')
      FAULT_FOLDER=$work/slow FAULT_CALL=$call FAULT_SECONDS=5 LD_PRELOAD=$library \
        on "$mpi" 2 "${options[@]}" --set train.rank_timeout=1 || { cat out >&2; fail "$mpi: lost while it wrote $file"; }
      cmp slow/checkpoints/latest/model.safetensors fast/checkpoints/latest/model.safetensors ||
        fail "$mpi: other weights after $file was slow"
    done
  done
fi

# Processes that do not agree write nothing.
# refused TEXT ARGUMENT…
refused() {
  local status=0
  "${@:2}" >out 2>&1 || status=$?
  [[ $status == 2 ]] || fail "exit code $status: ${*:2}"
  [[ $(errors out | wc -l) == 1 && $(<out) == *"error: "$1* ]] || { cat out >&2; fail "expected: $1"; }
  [[ ! -e refused ]] || fail "a run was begun: ${*:2}"
}
train=("$program" train language.toml --run refused)
for mpi in "${found[@]}"; do
  refused "process 1 of 2: * has another config than process 0" \
    "mpirun.$mpi" -n 1 "${train[@]}" : -n 1 "${train[@]}" --set seed=5
  refused "*train.shards is 2, which 4 processes cannot share equally" on "$mpi" 4 "${train[@]:1}" --set train.shards=2
  refused "other.toml: cannot read" on "$mpi" 2 train other.toml --run refused
done

# A signal that mpirun passes on: all stop after the same step, and save.
for mpi in "${found[@]}"; do
  rm -rf killed
  "mpirun.$mpi" -n 2 "$program" train language.toml --set train.steps=100000 --resume --run killed >out 2>&1 &
  job=$!
  while [[ -z $(newest killed) ]]; do sleep 0.1; done
  kill -USR1 "$job"
  wait "$job" || true
  grep -q "^interrupted and saved; continue with: .*heed train --resume --run killed" out || { cat out >&2; fail "$mpi: not interrupted"; }
done

echo "$trainings trainings by 2 to 8 processes of ${found[*]}: 0 different; $killed kills," \
  "the others ended within $slowest ms: 0 lost, 0 different; $stopped stopped processes were named"
