#!/usr/bin/env bash
# Whole trainings, with one thread and with four, and then their evaluation, end with the same bits. The builds with sanitizers
# run this for what they find on the way.
#
#   trainings.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
tests=$(dirname "$(readlink -f "$0")")
source "$tests/runs.sh"
source "$tests/three_configs.sh"
heed() { "$program" "$@" >out 2>err || { cat err >&2; fail "heed $*: failed"; }; }

for config in "${configs[@]}"; do
  heed train "$config.toml" --run "$config"
  heed train "$config.toml" --run threads --set threads=4
  sed -i 's/^threads = 4/threads = 1/' threads/config.toml
  same_run "$config" threads >&2 || fail "$config: four threads change the bits"
  for threads in 1 4; do
    heed evaluate "$config" --json --set threads=$threads
    mv out scores.$threads
  done
  cmp scores.1 scores.4 >&2 || fail "$config: four threads change the scores"
  rm -rf threads
done
