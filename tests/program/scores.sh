#!/usr/bin/env bash
# Trains every config in configs/ and configs/tasks/ and compares the scores with the goals in the header of the config, such as
#   # Goal: test exact_match ≥ 0.99, test_longer exact_match ≥ 0.99
# Makes the data of a config that says how in its header. Skips configs whose data are not installed. HEED_TEXT is the
# path of the text for shakespeare.toml.
#
#   scores.sh PROGRAM [CONFIG…]
set -euo pipefail
program=$1
shift
configs=$(dirname "$(readlink -f "$0")")/../../configs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 checked=0 missed=0

# Prints the value of member $2 of the object $1 in result.json.
score() {
  awk -v part="\"$1\":" -v metric="\"$2\":" '
    $1 == part { inside = 1 }
    inside && $1 == metric { sub(/,$/, "", $2); print $2; exit }' "$3/result.json"
}

# Trains the run $1 with the config $2 and options, unless it is trained already: as the run that another one fine-tunes.
train() { [[ -d $work/runs/$1 ]] || "$program" train "$2" --run "$work/runs/$1" "${@:3}" &>"$work/log"; }

(($#)) || set -- "$configs"/{,tasks/}*.toml
cp -r "$configs" "$work"
for config; do
  name=$(basename "$config" .toml)
  goals=$(sed -n 's/^# Goal: //p' "$config")
  [[ $goals ]] || { echo "$name: the header has no line '# Goal: …'"; failed=1; continue; }
  set=()
  if [[ $name == shakespeare ]]; then
    [[ ${HEED_TEXT-} ]] || { echo "$name: skipped, HEED_TEXT names no text"; continue; }
    set=(--set "data.path=$HEED_TEXT")
  fi
  if [[ $name == fashion && ! -d /usr/share/datasets/fashion-mnist ]]; then
    echo "$name: skipped, the package dataset-fashion-mnist is not installed"
    continue
  fi
  # The command before "heed train" in the header. It writes to configs/.
  command=$(sed -n 's/^#   //p' "$config" | sed '/^heed /,$d')
  if [[ $command == *configs/* ]]; then
    (cd "$work" && bash -eo pipefail -c "$command") 2>"$work/log" || { echo "$name: skipped, no data: $(tail -n 1 "$work/log")"; continue; }
    if [[ $name == translate && $(wc -l <"$work/configs/translate.tsv") -lt 30000 ]]; then
      echo "$name: skipped, too few message catalogues are installed"
      continue
    fi
    cp "$config" "$work/configs"
    config=$work/configs/$name.toml
  fi
  # The run to fine-tune.
  base=$(sed -n 's|^load = "\.\./runs/\(.*\)"|\1|p' "$config")
  [[ ! $base ]] || train "$base" "$work/configs/$base.toml" || cat "$work/log"
  run=$work/runs/$name
  train "$name" "$config" "${set[@]}" || { echo "$name: failed"; cat "$work/log"; failed=1; continue; }
  IFS=, read -ra parts <<<"$goals"
  for goal in "${parts[@]}"; do
    read -r split metric relation bound <<<"$goal"
    value=$(score "$split" "$metric" "$run")
    verdict=$(awk -v value="$value" -v relation="$relation" -v bound="$bound" '
      BEGIN { print value != "" && (relation == "≥" ? value >= bound : value <= bound) ? "reached" : "MISSED" }')
    echo "$name: $split $metric $value, goal $relation $bound: $verdict"
    ((++checked))
    [[ $verdict == reached ]] || { ((++missed)); failed=1; }
  done
done
echo "$checked goals, $missed missed"
exit "$failed"
