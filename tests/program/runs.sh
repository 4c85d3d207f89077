# Helpers for tests of runs, to be sourced. Changes to a temporary folder, which is removed at exit.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; exit 1; }

without_times() { sed -E 's/"(tokens_per_s|seconds)": ?[0-9.eE+-]+//g' "$1"; }

# same_run A B: fails and prints the first difference unless both runs are bitwise identical: weights, snapshots, optimizer
# state, metrics, scores, config and vocabulary.
same_run() {
  local which file
  for which in latest best; do
    [[ $(readlink "$1/checkpoints/$which") == "$(readlink "$2/checkpoints/$which")" ]] ||
      { echo "$which: different steps"; return 1; }
    for file in model optimizer; do
      cmp "$1/checkpoints/$which/$file.safetensors" "$2/checkpoints/$which/$file.safetensors" || return 1
    done
  done
  for file in metrics.jsonl result.json; do
    diff <(without_times "$1/$file") <(without_times "$2/$file") || { echo "$file differs"; return 1; }
  done
  if [[ -e $1/snapshots || -e $2/snapshots ]]; then diff -r "$1/snapshots" "$2/snapshots" || return 1; fi
  for file in config.toml vocabulary.json; do
    cmp "$1/$file" "$2/$file" || return 1
  done
}

# runs SWEEP: the folders of its runs.
runs() { (cd "$1" && find . -name config.toml -printf '%h\n' | sort); }
# same_sweep A B: fails unless both have the same runs, with the same bits.
same_sweep() {
  local run
  diff <(runs "$1") <(runs "$2") || return 1
  while read -r run; do
    if [[ -e $1/$run/result.json ]]; then
      same_run "$1/$run" "$2/$run" || { echo "$run differs"; return 1; }
    else
      [[ ! -e $2/$run/result.json ]] || { echo "$run was continued"; return 1; }
      cmp "$1/$run/checkpoints/latest/model.safetensors" "$2/$run/checkpoints/latest/model.safetensors" || return 1
    fi
  done < <(runs "$1")
}

# newest RUN: the step of its newest checkpoint, or nothing.
newest() { { ls "$1/checkpoints" 2>/dev/null || true; } | sed -n 's/^step-//p' | sort -n | tail -n 1; }

# The value of train.measures with which $program must not change a bit: none of a program without lab/.
measures() { if grep -q '^ *inspect ' <("$program" --help); then echo '["heads", "ablate", "lens"]'; else echo '[]'; fi; }

# The config of a training of a tenth of a second.
cat >tiny.toml <<'TOML'
[train]
steps = 40
batch_size = 4
evaluate_every = 10
checkpoint_every = 10
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
# A sweep of four of them.
cat >grid.toml <<'TOML'
config = "tiny.toml"
seeds = [1, 2]
[axes]
"optim.lr" = [1e-3, 1e-2]
TOML
