#!/usr/bin/env bash
# Looks for uninitialised memory and invalid reads by Valgrind: three trainings, their evaluation, predictions and inspection,
# and the tests of data. The memory sanitizer would need a standard library, OpenBLAS and fmt that are compiled with it.
#
#   memory.sh PROGRAM [TEST PROGRAM]...    of a build for x86-64-v2 or v3: Valgrind does not know AVX-512
set -euo pipefail
type valgrind &>/dev/null || { echo "skipped: valgrind is not installed"; exit; }
program=$(readlink -f "$1")
mapfile -t programs < <((($# == 1)) || readlink -f "${@:2}")
tests=$(dirname "$(readlink -f "$0")")
source "$tests/runs.sh"
source "$tests/three_configs.sh"
checked() {
  OMP_NUM_THREADS=2 valgrind --quiet --error-exitcode=99 --errors-for-leak-kinds=none "$@" >out 2>err ||
    { tail -n 40 err >&2; fail "$*: exit code $?"; }
}
calls=0
heed() { checked "$program" "$@"; calls=$((calls + 1)); }

for config in "${configs[@]}"; do
  heed train "$config.toml" --run "$config" --set train.steps=6 --set train.evaluate_every=3 --set train.checkpoint_every=3
  heed train --resume --run "$config" --set train.steps=8
  heed evaluate "$config"
done
heed generate language --prompt '3 1 2'
echo '1 2 3' >lines
heed generate plateau --input lines --beam 2
for view in heads ablate lens attribute; do heed inspect language $view --examples 4; done
heed attend plateau
for test in "${programs[@]}"; do checked "$test"; done
echo "$calls calls of the program and ${#programs[@]} test programs: no uninitialised memory"
