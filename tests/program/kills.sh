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
tests=$(dirname "$(readlink -f "$0")")
source "$tests/runs.sh"
source "$tests/three_configs.sh"
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
