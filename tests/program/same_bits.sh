#!/usr/bin/env bash
# Trains the first 20 steps of every config in configs/ with two programs, and compares the losses and gradient norms in
# metrics.jsonl, the weights and the moments of the optimizer byte for byte. Precision is highest. Makes the data of a
# config that says how in its header, and skips configs whose data are not installed (tests/program/scores.sh).
# HEED_TEXT is the path of the text for shakespeare.toml; without it, the text is README.md.
#
#   same_bits.sh OLD_PROGRAM NEW_PROGRAM [CONFIG…]
set -euo pipefail
old=$(readlink -f "$1")
new=$(readlink -f "$2")
shift 2
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
cp -r "$root/configs" "$work"
cd "$work"
text=${HEED_TEXT:-$root/README.md}
failed=0
compared=0

# train PROGRAM CONFIG RUN OPTION…: 20 steps, each with a line in metrics.jsonl.
train() {
  local program=$1 config=$2 run=$3
  shift 3
  "$program" train "$config" --run "$run" --set train.steps=20 --set train.log_every=1 --set train.evaluate_every=20 \
    --set train.checkpoint_every=10 --set schedule.warmup_steps=5 --set precision=highest "$@" &>log ||
    { printf '%s with %s failed:\n%s\n' "$config" "$program" "$(<log)" >&2; return 1; }
}

# The losses and gradient norms in metrics.jsonl, in its order.
numbers() { grep -oE '"(step|loss|gradient_norm)":[^,}]*' "$1/metrics.jsonl"; }

# compare NAME OPTION…
compare() {
  local name=$1 file before after
  shift
  train "$old" "configs/$config.toml" "old/$name" "$@" && train "$new" "configs/$config.toml" "new/$name" "$@" ||
    { failed=1; return; }
  if ! diff <(numbers "old/$name") <(numbers "new/$name") >difference; then
    printf '%s: other losses\n%s\n' "$name" "$(head -6 difference)"
    failed=1
  fi
  for file in model optimizer; do
    before=old/$name/checkpoints/step-20/$file.safetensors after=new/$name/checkpoints/step-20/$file.safetensors
    [[ -s $before ]] || { echo "$name: there is no $before"; failed=1; continue; }
    cmp -s "$before" "$after" || { echo "$name: $file.safetensors differs"; failed=1; }
  done
  compared=$((compared + 1))
  echo "$name: $(grep -c '"loss"' "new/$name/metrics.jsonl") losses, $(stat -c %s "new/$name/checkpoints/step-20/model.safetensors") bytes of weights"
}

(($#)) || set -- configs/*.toml
for config; do
  config=$(basename "$config" .toml)
  options=()
  if [[ $config == shakespeare ]]; then
    options=(--set "data.path=$text")
  elif [[ $config == fashion && ! -d /usr/share/datasets/fashion-mnist ]]; then
    echo "$config: skipped, the package dataset-fashion-mnist is not installed"
    continue
  fi
  command=$(sed -n 's/^#   //p' "configs/$config.toml" | sed '/^heed /,$d')  # what makes the data
  if [[ $command == *configs/* ]]; then
    bash -eo pipefail -c "$command" 2>log || { echo "$config: skipped, no data: $(tail -n 1 log)"; continue; }
  fi
  base=$(sed -n 's|^load = "\.\./runs/\(.*\)"|\1|p' "configs/$config.toml")  # the run to fine-tune
  if [[ $base && ! -d runs/$base ]]; then
    train "$old" "configs/$base.toml" "runs/$base" || { failed=1; continue; }
  fi
  compare "$config" "${options[@]}"
done
# Forms that no config has.
config=sort
for option in positional.kind=rotary positional.kind=alibi positional.kind=relative attention.similarity=additive \
  attention.normaliser=sum attention.temperature=2 attention.combine=mean attention.window=3 \
  attention.tie_key_value=true attention.key_dims=[3,5] block.mixing=gru norm=rms activation=swiglu dropout=0.1 \
  attention_dropout=0.1 norm_first=false bias=false; do
  [[ ${1-} == configs/* ]] || break  # configs were named
  more=()
  [[ $option == attention.key_dims=* ]] && more=(--set model.heads=2)
  compare "sort-${option//[.=\[\],]/-}" --set "model.$option" "${more[@]}"
done
((compared)) || { echo "nothing was compared"; exit 1; }
((failed)) || echo "$compared runs: equal in every byte"
exit "$failed"
