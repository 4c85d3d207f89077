#!/usr/bin/env bash
# Every call that changes the folder of a run fails once: EIO and ENOSPC in turn, in a run that starts and in one that
# resumes. The program then ends with one line and exit code 1, or as if nothing had failed. Resumed, the run ends in
# the same bits as one left alone. Never is anything lost with exit code 0.
#
#   faults.sh PROGRAM LIBRARY [SAMPLE]   LIBRARY: tests/program/faults.cpp; SAMPLE: try only so many calls
set -euo pipefail
program=$(readlink -f "$1")
library=$(readlink -f "$2")
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
  FAULT_FOLDER=$work/disk FAULT_CALL=$1 FAULT_ERRNO=$2 LD_PRELOAD=$library \
    "$program" train config.toml --resume --run disk/run >out 2>err
}
one_error() { [[ $(grep -c '^error: ' err) == 1 && $(tail -n 1 err) == error:* ]]; }

declare -A tried=() failed=()
total=0 unnoticed=0 stopped=0

shuffled() { awk 'BEGIN { srand(1) } { printf "%.9f\t%s\n", rand(), $0 }' | sort | cut -f 2-; }

# The numbers of the calls to fail: all, or of a sample one of each kind of call and file, as far as the sample goes.
chosen_calls() {
  if ((sample == 0)); then
    seq "$(wc -l <calls)"
  else
    sed 's|/.*/| |' calls | nl -ba | shuffled | sort -u -k 2 | shuffled |
      awk -v most=$((sample / 2)) 'NR <= most { print $1 }'
  fi
}

# try_all BEFORE: for each call of a training that starts from the folder BEFORE (none: a new run).
try_all() {
  local before=$1 call calls lines status
  put() { rm -rf disk; mkdir disk; [[ ! $before ]] || cp -a "$before" disk/run; }
  put
  : >calls
  FAULT_LIST=$work/calls faulty 0 0 || { cat err >&2; fail "without a fault the run failed"; }
  same_run alone disk/run >&2 || fail "without a fault the run differs"
  lines=$(wc -l <disk/run/train.log)
  mapfile -t calls <calls
  ((${#calls[@]} > 50)) || fail "only ${#calls[@]} calls: the library does not see them"
  for call in $(chosen_calls); do
    local name=${calls[call - 1]%% *} code=$((call % 2 ? 5 : 28))
    put
    status=0
    faulty "$call" "$code" || status=$?
    total=$((total + 1))
    tried[$name]=$((${tried[$name]:-0} + 1))
    if [[ $status == 0 ]]; then
      unnoticed=$((unnoticed + 1))
      same_run alone disk/run >&2 || fail "call $call, ${calls[call - 1]}: exit code 0, but the run differs"
      [[ $(wc -l <disk/run/train.log) == "$lines" ]] || fail "call $call, ${calls[call - 1]}: exit code 0, but lines of the log are lost"
      continue
    fi
    [[ $status == 1 ]] && one_error || { cat err >&2; fail "call $call, ${calls[call - 1]}: exit code $status"; }
    stopped=$((stopped + 1))
    failed[$name]=$((${failed[$name]:-0} + 1))
    "$program" train config.toml --resume --run disk/run >out 2>err ||
      { cat err >&2; fail "call $call, ${calls[call - 1]}: the run cannot be resumed"; }
    same_run alone disk/run >&2 || fail "call $call, ${calls[call - 1]}: the resumed run differs"
    if ls -A disk/run/checkpoints | grep -q '^\.tmp'; then fail "call $call, ${calls[call - 1]}: leaves a half-written checkpoint"; fi
  done
}

# synced MADE FOLDER: after the folder MADE is made, the name of it is synchronized with the disk.
synced() {
  grep -A 1 "^mkdir $work/$1\$" calls | grep -q "^fsync $work/$2\$" || fail "$2 is not synchronized after $1 is made"
}

try_all ""
synced disk/run disk
synced disk/run/checkpoints disk/run
rm -rf disk/run  # a run that stopped while it saved its second checkpoint
calls_of_start=$(wc -l <calls)
faulty $((calls_of_start / 2)) 5 && fail "the disk refused, but the training ended with exit code 0"
cp -a disk/run half
[[ -d half/checkpoints/step-2 && ! -e half/result.json ]] || fail "no run to resume: $(ls -R half)"
try_all half

for name in "${!tried[@]}"; do
  printf '%s: %d failed once, %d stopped the training\n' "$name" "${tried[$name]}" "${failed[$name]:-0}"
done | sort
echo "$total faults: $stopped stopped with one line and resumed to the same bits, $unnoticed did no harm"
