#!/usr/bin/env bash
# Sweeps that are killed, interrupted, shared or widened end with the bits of an undisturbed sweep.
#
#   sweep.sh PROGRAM [LIBRARY]   LIBRARY: tests/program/faults.cpp, to fill the disk; without it that test is skipped
set -euo pipefail
program=$(readlink -f "$1")
library=${2:+$(readlink -f "$2")}
source "$(dirname "$(readlink -f "$0")")/runs.sh"

cat >halving.toml <<'TOML'
config = "tiny.toml"
method = "halving"
seeds = [1, 2]
[halving]
rungs = [10, 20]
keep = 0.5
[axes]
"optim.lr" = [1e-3, 1e-2, 3e-2, 1e-30]
TOML

sweep() { "$program" sweep "$@" >out 2>err; }
expect() {  # expect CODE ARGUMENTS…: a sweep that ends with this exit code
  local code=0 expected=$1
  shift
  sweep "$@" || code=$?
  [[ $code == "$expected" ]] || { cat err >&2; fail "sweep $*: exit code $code, expected $expected"; }
}
wait_for() { for _ in $(seq 12000); do if eval "$1"; then return; fi; sleep 0.005; done; fail "waited in vain for: $1"; }
checkpoints() { compgen -G "$1/*/seed-*/checkpoints/latest" | wc -l; }  # how many runs have one
a_checkpoint() { (($(checkpoints "$1") > 0)); }

# Kills a run of the sweep $pid in the folder $1 that trains and has a checkpoint. Fails if the sweep ends first. The pid in
# a lock may be that of a process that has ended, whose number another program has now.
kill_a_run() {
  local lock child
  while kill -0 $pid 2>/dev/null; do
    for lock in "$1"/*/seed-*/.lock; do
      [[ -e ${lock%/.lock}/checkpoints/latest ]] && child=$(<"$lock") || continue
      [[ $(readlink "/proc/$child/exe") == "${program%/*}/"heed* ]] && kill -KILL "$child" 2>/dev/null && return
    done
  done
  return 1
}

for method in grid halving; do
  expect 0 $method.toml --run $method --jobs 2
  grep -q '4/4\|2/2\|8/8' err || { cat err >&2; fail "$method: no last run"; }

  # The sweep is killed again and again, at different times; its runs end with it.
  for delay in 0.05 0.15 0.1; do
    "$program" sweep $method.toml --run killed --jobs 2 >out 2>err &
    pid=$!
    sleep $delay
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
  done
  # A run is killed: the sweep says so, and the others continue. A run may end between its checkpoint and the kill, so
  # this is tried until one is hit.
  for ((try = 0; try < 50; ++try)); do
    rm -rf one
    "$program" sweep $method.toml --run one --jobs 1 >out 2>err &
    pid=$!
    kill_a_run one || true
    code=0
    wait $pid || code=$?
    [[ $(cat err) != *"ended by signal 9"* ]] || break
    [[ $code == 0 ]] || { cat err >&2; fail "$method: a sweep whose run was killed as it ended: exit code $code"; }
  done
  [[ $code == 1 ]] || { cat err >&2; fail "$method: no run was killed in $try sweeps"; }
  for folder in killed one; do
    expect 0 $method.toml --run $folder --jobs 3
    same_sweep $method $folder >&2 || fail "$method: differs after kills ($folder)"
    rm -rf $folder
  done

  # Two sweeps share the work.
  "$program" sweep $method.toml --run shared --jobs 1 >out1 2>err1 &
  first=$!
  "$program" sweep $method.toml --run shared --jobs 1 >out2 2>err2 &
  second=$!
  wait $first || { cat err1 >&2; fail "$method: the first of two sweeps failed"; }
  wait $second || { cat err2 >&2; fail "$method: the second of two sweeps failed"; }
  same_sweep $method shared >&2 || fail "$method: differs after two sweeps at once"
  rm -rf shared
done
rungs=$(runs halving | while read -r run; do readlink "halving/$run/checkpoints/latest"; done | sort | uniq -c | tr -s ' \n' ' ')
[[ $rungs == " 4 step-10 2 step-20 2 step-40 " ]] || fail "halving: the runs ended at: $rungs"

# A widened axis, and another name for the same runs: only what is new trains.
expect 0 grid.toml --run grid --axis optim.lr=1e-3,1e-2,2e-2
grep -q '^4 of 6 runs were done before$' err || { cat err >&2; fail "a widened sweep trains all runs"; }
expect 0 grid.toml --run grid --axis model.dim=8,4
grep -q '^4 of 8 runs were done before$' err || { cat err >&2; fail "a sweep with another axis trains all runs"; }

# Another sweep, and a folder without one.
expect 2 grid.toml --run grid --set optim.beta1=0.5
grep -q 'grid: holds another sweep: optim.beta1 = 0.9, now 0.5' err || fail "another sweep is not refused: $(cat err)"
expect 2 halving.toml --run grid
mkdir taken && touch taken/file
expect 2 grid.toml --run taken
[[ $(ls taken) == file ]] || fail "the refused folder was changed"

# Ctrl-C: all runs save. A run that is only starting has nothing to save, so both must have begun.
"$program" sweep grid.toml --run interrupted --jobs 2 --set train.steps=100000 >out 2>err &
pid=$!
wait_for '(($(checkpoints interrupted) == 2))'
kill -INT $pid
code=0
wait $pid || code=$?
[[ $code == 130 ]] || { cat err >&2; fail "Ctrl-C: exit code $code"; }
(($(checkpoints interrupted) == 2)) && ! compgen -G 'interrupted/*/seed-*/error.txt' >/dev/null || fail "Ctrl-C: not saved"
[[ $(ls -d interrupted/*/seed-*/ | wc -l) == 2 ]] || fail "Ctrl-C: other runs were started"

# A run that fails is told with its last line; the others continue. It is resumed only if asked.
expect 1 grid.toml --run failing --set optim.kind=sgd --axis optim.lr=1e-3,1e38
[[ $(grep -c '^error: lr=1e+38/seed-[12]: step ' err) == 2 ]] || { cat err >&2; fail "failing runs are not told"; }
[[ $(ls failing/lr=0.001/*/result.json | wc -l) == 2 ]] || fail "a failing run ends the others"
before=$(cat failing/lr=1e+38/seed-1/train.log)
expect 1 grid.toml --run failing --set optim.kind=sgd --axis optim.lr=1e-3,1e38
[[ $(cat failing/lr=1e+38/seed-1/train.log) == "$before" ]] || fail "a failed run was trained again"
expect 1 grid.toml --run failing --set optim.kind=sgd --axis optim.lr=1e-3,1e38 --retry-failed
[[ $(cat failing/lr=1e+38/seed-1/train.log) != "$before" ]] || fail "--retry-failed trains nothing"
expect 1 grid.toml --run fast --fail-fast --jobs 1 --set optim.kind=sgd --axis optim.lr=1e38,1e-3
[[ $(ls -d fast/*/seed-* | wc -l) == 1 ]] || fail "--fail-fast continues"
sed 's|^keep = .*|keep = 0.9|' halving.toml >kept.toml
expect 1 kept.toml --run kept --set optim.kind=sgd --axis optim.lr=1e-3,1e38
[[ $(grep -c '^error: lr=1e+38/seed-[12]: ' err) == 2 ]] || { cat err >&2; fail "the next rung tells failed runs again"; }

# A run folder that is deleted while its run trains.
"$program" sweep grid.toml --run deleted --jobs 1 --set train.steps=20000 --seeds 1 --axis optim.lr=1e-3 >out 2>err &
pid=$!
wait_for 'a_checkpoint deleted'
mv deleted/lr=0.001/seed-1 moved
code=0
wait $pid || code=$?
[[ $code == 1 && $(cat err) == *"error: lr=0.001/seed-1: "* ]] || { cat err >&2; fail "a deleted run: exit code $code"; }

# Refused points are listed with the config's error and not started.
expect 2 grid.toml --run refused --axis model.heads=1,3 --seeds 1 --axis optim.lr=1e-3
grep -q '^warning: lr=0.001,heads=3/seed-1 is refused: --axis model.heads=1,3: model.heads = 3 does not divide' err || fail "refused: $(cat err)"
[[ $(ls -d refused/*/seed-*) == refused/lr=0.001,heads=1/seed-1 ]] || fail "a refused point was started"

# A full disk: the runs fail, the sweep says so, and continues when there is space.
if [[ $library ]]; then
  code=0
  FAULT_FOLDER=$work/full/lr=0.01 FAULT_CALL=60 FAULT_ERRNO=28 LD_PRELOAD=$library "$program" sweep grid.toml --run full >out 2>err || code=$?
  [[ $code == 1 && $(cat err) == *"No space left on device"* ]] || { cat err >&2; fail "a full disk: exit code $code"; }
  rm -rf grid
  expect 0 grid.toml --run grid
  expect 0 grid.toml --run full --retry-failed
  same_sweep grid full >&2 || fail "differs after a full disk"
fi
echo "sweeps that were killed, shared, interrupted and widened end with the same bits"
