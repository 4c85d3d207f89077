#!/usr/bin/env bash
# A run that is killed (SIGKILL) over and over while its checkpoints appear, and resumed each time, ends
# in the same bits as one left alone: weights, optimizer, metrics and scores. With dropout, two micro-batches a
# step, epochs that end inside a step, and the plateau schedule, whose state counts.
#
#   resume.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >config.toml <<'TOML'
seed = 7
threads = 2
[train]
steps = 120
batch_size = 6
accumulate = 2
evaluate_every = 15
checkpoint_every = 10
log_every = 5
samples = 0
[model]
layers = 1
dim = 32
heads = 2
dropout = 0.1
attention_dropout = 0.1
[optim]
lr = 3e-3
[schedule]
kind = "plateau"
factor = 0.5
patience = 0
threshold = 0.05
[data]
kind = "reverse"
symbols = 10
lengths = [1, 8]
train_size = 100
val_size = 40
test_size = 40
TOML

fail() { printf 'resume: %s\n' "$*" >&2; exit 1; }
latest() { readlink "$1/checkpoints/latest" 2>/dev/null || true; }

"$program" train config.toml --run alone >alone.txt 2>&1 || { cat alone.txt >&2; fail "the run left alone failed"; }

kills=0
arguments=(train config.toml --run killed)
while :; do
  before=$(latest killed)
  "$program" "${arguments[@]}" >killed.txt 2>&1 &
  pid=$!
  arguments=(train --resume --run killed)
  # Let it save something new, then strike at a moment that differs each time.
  while kill -0 "$pid" 2>/dev/null && [[ $(latest killed) == "$before" ]]; do sleep 0.002; done
  sleep "0.00$((kills % 10))"
  if kill -KILL "$pid" 2>/dev/null; then kills=$((kills + 1)); fi
  status=0
  wait "$pid" 2>/dev/null || status=$?
  [[ $status == 0 ]] && break
  [[ $status == 137 ]] || { cat killed.txt >&2; fail "exit code $status after $kills kills"; }
  ((kills < 60)) || fail "no end after $kills kills"
done
((kills >= 5)) || fail "only $kills kills: the test no longer tests"

for which in latest best; do
  [[ $(latest alone) == "$(latest killed)" ]] || fail "the last checkpoints are of different steps"
  [[ $(readlink alone/checkpoints/best) == "$(readlink killed/checkpoints/best)" ]] ||
    fail "the best checkpoints are of different steps"
  for file in model optimizer; do
    cmp "alone/checkpoints/$which/$file.safetensors" "killed/checkpoints/$which/$file.safetensors" ||
      fail "$which/$file.safetensors differs after $kills kills"
  done
done
without_times() { sed -E 's/"(tokens_per_s|seconds)": ?[0-9.eE+-]+//g' "$1"; }
for file in metrics.jsonl result.json; do
  diff <(without_times "alone/$file") <(without_times "killed/$file") >&2 || fail "$file differs"
done
ls -A killed/checkpoints | grep -q '^\.tmp' && fail "a half-written checkpoint was left behind"
echo "the same bits after $kills kills"
