#!/usr/bin/env bash
# Compares training with the fast kernels and with the naive loops of core/reference and optim/reference: all losses
# of the first hundred steps must agree to a relative error of 1e-4.
#
#   reference.sh PROGRAM REFERENCE_PROGRAM
set -euo pipefail
fast=$1
reference=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >config.toml <<'TOML'
[train]
steps = 100
batch_size = 16
log_every = 1
evaluate_every = 100
samples = 0
[model]
kind = "language_model"
layers = 2
heads = 2
dim = 16
activation = "gelu"
[optim]
lr = 1e-3
beta2 = 0.95
weight_decay = 0.1
[data]
kind = "sort"
symbols = 3
lengths = [6, 6]
val_fraction = 0.05
test_fraction = 0.25
TOML

fail() { printf 'reference: %s\n' "$*" >&2; exit 1; }
"$reference" --version | grep -q "reference loops" || fail "$reference does not compute with the reference loops"

# compare NAME OPTION…: trains with both programs and compares the losses.
compare() {
  local name=$1 program
  shift
  for program in fast reference; do
    "${!program}" train config.toml --run "$name-$program" "$@" >log 2>&1 || { cat log >&2; fail "$name: $program failed"; }
    grep -o '"step":[0-9]*,.*"loss":[0-9.e-]*\|"loss":[0-9.e-]*' "$name-$program/metrics.jsonl" |
      sed 's/.*"loss"://' >"$program"
  done
  paste fast reference | awk -v name="$name" '
    { error = ($1 > $2 ? $1 - $2 : $2 - $1) / $1; if (error > worst) worst = error; last = $1; if (NR == 1) first = $1 }
    END {
      printf "%s: %d losses, from %g to %g, largest relative error %.1e\n", name, NR, first, last, worst
      exit !(NR >= 100 && last < first && worst <= 1e-4)
    }' || fail "$name: the losses differ"
}

compare sort
compare translate --set model.kind=seq2seq --set model.positional.kind=rotary --set model.norm=rms \
  --set model.activation=swiglu --set model.dropout=0.1 --set model.attention_dropout=0.1 \
  --set train.label_smoothing=0.1 --set optim.kind=sgd --set optim.momentum=0.9 --set optim.lr=0.05
