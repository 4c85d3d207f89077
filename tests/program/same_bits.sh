#!/usr/bin/env bash
# Trains the first 20 steps of every config in configs/ with two programs, and compares the losses and gradient norms in
# metrics.jsonl, result.json without its times, the weights, the moments of the optimizer, and what `evaluate --json
# --predictions` and `generate` print. All must be equal in every byte. Precision is highest. The run of the first config
# is also killed and resumed, and trained by two processes of each MPI that is installed. Makes the data of a config that
# says how in its header, and skips configs whose data are not installed (tests/program/scores.sh). HEED_TEXT is the path
# of the text for shakespeare.toml; without it, the text is README.md.
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
mkdir "$work"/loaded{,-new}
cd "$work"
text=${HEED_TEXT:-$root/README.md}
failed=0
compared=0

# train PROGRAM CONFIG RUN OPTION…: 20 steps, each with a line in metrics.jsonl.
steps=(--set train.steps=20 --set train.log_every=1 --set train.evaluate_every=20 --set train.checkpoint_every=10
  --set schedule.warmup_steps=5 --set precision=highest)
launch=()
train() {
  ln -sfn "loaded$([[ $1 == "$old" ]] || echo -new)" runs  # where a config that fine-tunes finds its run
  "${launch[@]}" "$1" train "$2" --run "$3" "${steps[@]}" "${@:4}" &>log ||
    { printf '%s with %s failed:\n%s\n' "$2" "$1" "$(<log)" >&2; return 1; }
}

# The losses and gradient norms in metrics.jsonl, in its order, and the result without its times.
numbers() {
  grep -oE '"(step|loss|gradient_norm)":[^,}]*' "$1/metrics.jsonl"
  grep -vE '"(seconds|tokens_per_s)"' "$1/result.json"
}

# answers PROGRAM NAME: the scores, the predictions, and what is generated for the first sources, or without a source.
answers() {
  "$1" evaluate "$2" --json --predictions "$2/predictions.jsonl" && cat "$2/predictions.jsonl"
  sed -nE 's/.*"source":"(([^"\\]|\\.)*)".*/\1/p' "$2/predictions.jsonl" | head -n 3 >sources
  if [[ -s sources ]]; then
    "$1" generate "$2" --json --input sources
  else
    "$1" generate "$2" --json --length 40 --count 2 --seed 1
  fi
}

# same NAME BEFORE AFTER: the numbers and weights of two runs
same() {
  local file
  if ! diff <(numbers "$2") <(numbers "$3") >difference; then
    printf '%s: other losses or another result\n%s\n' "$1" "$(head -6 difference)"
    failed=1
  fi
  for file in model optimizer; do
    before=$2/checkpoints/step-20/$file.safetensors after=$3/checkpoints/step-20/$file.safetensors
    [[ -s $before ]] || { echo "$1: there is no $before"; failed=1; continue; }
    cmp -s "$before" "$after" || { echo "$1: $file.safetensors differs"; failed=1; }
  done
}

# compare NAME OPTION…
compare() {
  local name=$1
  shift
  train "$old" "configs/$config.toml" "old/$name" "$@" && train "$new" "configs/$config.toml" "new/$name" "$@" ||
    { failed=1; return; }
  same "$name" "old/$name" "new/$name"
  # Both print the same name of the run. A model that cannot generate says so.
  (cd old && answers "$old" "$name" &>answers) || true
  (cd new && answers "$new" "$name" &>answers) || true
  if ! diff old/answers new/answers >difference; then
    printf '%s: other scores, predictions or outputs\n%s\n' "$name" "$(head -6 difference)"
    failed=1
  fi
  ((compared)) || killed "$name" "$@"
  ((compared)) || by_two_processes "$name" "$@"
  compared=$((compared + 1))
  echo "$name: $(grep -c '"loss"' "new/$name/metrics.jsonl") losses, $(stat -c %s "new/$name/checkpoints/step-20/model.safetensors") bytes of weights"
}

# killed NAME OPTION…: kills a training of the new program after its first checkpoint, and resumes it.
killed() {
  local run=new/killed
  for try in {1..50}; do
    rm -rf $run
    "$new" train "configs/$config.toml" --run $run "${steps[@]}" "${@:2}" &>log &
    until [[ -e $run/checkpoints/step-10 ]] || ! kill -0 $! 2>/dev/null; do :; done
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || [[ -e $run/checkpoints/step-20 ]] || break
  done
  "$new" train --resume $run &>>log || { cat log; failed=1; return; }
  same "$1, killed and resumed" "old/$1" $run
  echo "$1: killed at try $try, resumed from step 10"
}

# by_two_processes NAME OPTION…
by_two_processes() {
  local options=(--set train.shards=2 "${@:2}")
  (
    program=$new
    source "$root/tests/program/mpi.sh"  # says so and ends the subshell if there is none
    train "$old" "configs/$config.toml" old/shards "${options[@]}"
    for mpi in "${found[@]}"; do
      launch=(mpirun."$mpi" -n 2)
      train "$new" "configs/$config.toml" "new/two-$mpi" "${options[@]}"
    done
  ) || failed=1
  for run in new/two-*; do
    [[ -d $run ]] || continue
    same "$1, ${run#new/}" old/shards "$run"
    echo "$1: ${run#new/}"
  done
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
  for program in "$old" "$new"; do
    [[ -z $base ]] || train "$program" "configs/$base.toml" "runs/$base" || { failed=1; continue 2; }
  done
  compare "$config" "${options[@]}"
done
# Forms that no config has.
config=sort
for option in positional.kind=rotary positional.kind=alibi positional.kind=relative attention.similarity=additive \
  attention.normaliser=sum attention.temperature=2 attention.combine=mean attention.window=3 \
  attention.tie_key_value=true attention.key_dims=[3,5] block.mixing=gru norm=rms activation=swiglu dropout=0.1 \
  attention_dropout=0.1 norm_first=false bias=false init.kind=gpt2; do
  [[ ${1-} == configs/* ]] || break  # configs were named
  more=()
  [[ $option == attention.key_dims=* ]] && more=(--set model.heads=2)
  compare "sort-${option//[.=\[\],]/-}" --set "model.$option" "${more[@]}"
done
((compared)) || { echo "nothing was compared"; exit 1; }
((failed)) || echo "$compared runs: equal in every byte"
exit "$failed"
