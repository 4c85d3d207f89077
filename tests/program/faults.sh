#!/usr/bin/env bash
# Injects faults: each system call that changes the run folder fails once, alternately with EIO and ENOSPC, in a new run
# and in a resumed run. heed must exit with code 1 and one error line, or complete the run. Resumed runs must be bitwise
# identical to an uninterrupted run. With exit code 0 no data may be lost.
#
#   faults.sh PROGRAM LIBRARY [SAMPLE]   LIBRARY: tests/program/faults.cpp; SAMPLE: number of calls to try (default: all)
set -euo pipefail
program=$(readlink -f "$1")
library=$(readlink -f "$2")
sample=${3:-0}
source "$(dirname "$(readlink -f "$0")")/runs.sh"

cat >config.toml <<'TOML'
base = "tiny.toml"
seed = 5
threads = 1
[train]
steps = 6
evaluate_every = 2
checkpoint_every = 2
TOML

"$program" train config.toml --run uninterrupted >out 2>&1 || { cat out >&2; fail "the uninterrupted run failed"; }

# faulty CALL ERRNO: trains in disk/run; call number CALL fails with ERRNO.
faulty() {
  FAULT_FOLDER=$work/disk FAULT_CALL=$1 FAULT_ERRNO=$2 LD_PRELOAD=$library \
    "$program" train config.toml --resume --run disk/run >out 2>err
}
one_error() { [[ $(grep -c '^error: ' err) == 1 && $(tail -n 1 err) == error:* ]]; }

declare -A tried=() failed=()
total=0 unnoticed=0 stopped=0

shuffled() { awk 'BEGIN { srand(1) } { printf "%.9f\t%s\n", rand(), $0 }' | sort | cut -f 2-; }

# Prints the numbers of the calls to fail: all, or for a sample at most one of each kind of call and file.
chosen_calls() {
  if ((sample == 0)); then
    seq "$(wc -l <calls)"
  else
    sed 's|/.*/| |' calls | nl -ba | shuffled | sort -u -k 2 | shuffled |
      awk -v most=$((sample / 2)) 'NR <= most { print $1 }'
  fi
}

# try_all BEFORE: tests each call of a training that resumes a copy of the folder BEFORE ("": a new run).
try_all() {
  local before=$1 call calls lines status
  put() { rm -rf disk; mkdir disk; [[ ! $before ]] || cp -a "$before" disk/run; }
  put
  : >calls
  FAULT_LIST=$work/calls faulty 0 0 || { cat err >&2; fail "the run without a fault failed"; }
  same_run uninterrupted disk/run >&2 || fail "the run without a fault differs"
  lines=$(wc -l <disk/run/train.log)
  mapfile -t calls <calls
  ((${#calls[@]} > 50)) || fail "only ${#calls[@]} calls: the library does not intercept them"
  for call in $(chosen_calls); do
    local name=${calls[call - 1]%% *} code=$((call % 2 ? 5 : 28))
    put
    status=0
    faulty "$call" "$code" || status=$?
    total=$((total + 1))
    tried[$name]=$((${tried[$name]:-0} + 1))
    if [[ $status == 0 ]]; then
      unnoticed=$((unnoticed + 1))
      same_run uninterrupted disk/run >&2 || fail "call $call, ${calls[call - 1]}: exit code 0, but the run differs"
      [[ $(wc -l <disk/run/train.log) == "$lines" ]] || fail "call $call, ${calls[call - 1]}: exit code 0, but lines of the log are lost"
      continue
    fi
    [[ $status == 1 ]] && one_error || { cat err >&2; fail "call $call, ${calls[call - 1]}: exit code $status"; }
    stopped=$((stopped + 1))
    failed[$name]=$((${failed[$name]:-0} + 1))
    "$program" train config.toml --resume --run disk/run >out 2>err ||
      { cat err >&2; fail "call $call, ${calls[call - 1]}: the run cannot be resumed"; }
    same_run uninterrupted disk/run >&2 || fail "call $call, ${calls[call - 1]}: the resumed run differs"
    if compgen -G "disk/run/*/.tmp*" >/dev/null; then fail "call $call, ${calls[call - 1]}: leaves half-written weights"; fi
  done
}

# synced MADE FOLDER: checks that FOLDER is synchronized with the disk after the folder MADE is created in it.
synced() {
  grep -A 1 "^mkdir $work/$1\$" calls | grep -q "^fsync $work/$2\$" || fail "$2 is not synchronized after $1 is created"
}

try_all ""
synced disk/run disk
synced disk/run/checkpoints disk/run
rm -rf disk/run  # a run that failed while saving its second checkpoint
calls_of_start=$(wc -l <calls)
faulty $((calls_of_start / 2)) 5 && fail "a write failed, but training exited with 0"
cp -a disk/run half
[[ -d half/checkpoints/step-2 && ! -e half/result.json ]] || fail "no run to resume: $(ls -R half)"
try_all half

for name in "${!tried[@]}"; do
  printf '%s: %d failed once, %d stopped the training\n' "$name" "${tried[$name]}" "${failed[$name]:-0}"
done | sort
echo "$total faults: $stopped stopped with one line and resumed to the same bits, $unnoticed did no harm"
