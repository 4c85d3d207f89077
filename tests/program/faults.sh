#!/usr/bin/env bash
# Every call that changes the folder of a run fails once: EIO and ENOSPC in turn, in a run that starts and in one that
# resumes. The program then ends with one line and exit code 1, or as if nothing had failed. Resumed, the run ends in
# the same bits as one left alone. Never is anything lost with exit code 0.
#
#   faults.sh PROGRAM LIBRARY [SAMPLE]   LIBRARY: tests/program/faults.cpp; SAMPLE: try only so many calls
set -euo pipefail
program=$1
library=$2
sample=${3:-0}
source "$(dirname "$(readlink -f "$0")")/runs.sh"

cat >config.toml <<'TOML'
seed = 5
threads = 1
[train]
steps = 6
batch_size = 4
evaluate_every = 2
checkpoint_every = 2
log_every = 1
samples = 0
[model]
kind = "language_model"
layers = 1
dim = 8
heads = 1
dropout = 0.1
[data]
kind = "sort"
symbols = 3
lengths = [4, 4]
TOML

"$program" train config.toml --run alone >out 2>&1 || { cat out >&2; fail "the run left alone failed"; }

# faulty CALL ERRNO: trains in the folder run; one call fails.
faulty() {
  FAULT_FOLDER=$work/run FAULT_CALL=$1 FAULT_ERRNO=$2 LD_PRELOAD=$library \
    "$program" train config.toml --resume --run run >out 2>err
}
one_error() { [[ $(grep -c '^error: ' err) == 1 && $(tail -n 1 err) == error:* ]]; }

declare -A tried=() failed=()
total=0 unnoticed=0 stopped=0

# try_all BEFORE: for each call of a training that starts from the folder BEFORE (none: a new run).
try_all() {
  local before=$1 call=0 calls status step=1
  put() { rm -rf run; [[ ! $before ]] || cp -a "$before" run; }
  put
  : >calls
  FAULT_COUNT=$work/calls faulty 0 0 || { cat err >&2; fail "without a fault the run failed"; }
  same_run alone run >&2 || fail "without a fault the run differs"
  mapfile -t calls <calls
  ((${#calls[@]} > 50)) || fail "only ${#calls[@]} calls: the library does not see them"
  ((sample == 0)) || step=$(((2 * ${#calls[@]} + sample - 1) / sample))
  for ((call = 1 + (step > 1 ? RANDOM % step : 0); call <= ${#calls[@]}; call += step)); do
    local name=${calls[call - 1]} code=$((call % 2 ? 5 : 28))
    put
    status=0
    faulty "$call" "$code" || status=$?
    total=$((total + 1))
    tried[$name]=$((${tried[$name]:-0} + 1))
    if [[ $status == 0 ]]; then
      unnoticed=$((unnoticed + 1))
      same_run alone run >&2 || fail "call $call, $name: exit code 0, but the run differs"
      continue
    fi
    [[ $status == 1 ]] && one_error || { cat err >&2; fail "call $call, $name: exit code $status"; }
    stopped=$((stopped + 1))
    failed[$name]=$((${failed[$name]:-0} + 1))
    "$program" train config.toml --resume --run run >out 2>err ||
      { cat err >&2; fail "call $call, $name: the run cannot be resumed"; }
    same_run alone run >&2 || fail "call $call, $name: the resumed run differs"
    if ls -A run/checkpoints | grep -q '^\.tmp'; then fail "call $call, $name: leaves a half-written checkpoint"; fi
  done
}

RANDOM=1
try_all ""
rm -rf run  # a run that stopped while it saved its second checkpoint
calls_of_start=$(wc -l <calls)
faulty $((calls_of_start / 2)) 5 && fail "the disk refused, but the training ended with exit code 0"
cp -a run half
[[ -d half/checkpoints/step-2 && ! -e half/result.json ]] || fail "no run to resume: $(ls -R half)"
try_all half

for name in "${!tried[@]}"; do
  printf '%s: %d failed once, %d stopped the training\n' "$name" "${tried[$name]}" "${failed[$name]:-0}"
done | sort
echo "$total faults: $stopped stopped with one line and resumed to the same bits, $unnoticed did no harm"
