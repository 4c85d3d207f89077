#!/usr/bin/env bash
# Fuzzes every parser of heed: tests/fuzz/run.sh LIMIT [TARGET…]
#
#   LIMIT    60s: total time in seconds, about; 10000000: number of executions of each target; 100000,1200s: as many, or so
#            many seconds of each target if they end first; --sum: only prints how often the targets have run at each commit
#   TARGET   names of tests/fuzz/targets.cpp (default: all)
#
# Builds in build/clang (requires clang-14, libclang-rt-14-dev and libomp-14-dev) and runs two targets in parallel.
# Limits for inputs of up to 2048 bytes (tokenizers and runs: 8192): 1 second, 1 GiB of memory, 256 MiB in one allocation.
# Prints the number of executions of each target, which build/fuzz/executions keeps by commit. If a target fails, prints
# the input and exits with 1. Inputs that reach new code are kept in build/fuzz/corpus for the next run.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
limit=${1:?"usage: tests/fuzz/run.sh 60s|EXECUTIONS [TARGET...]"}
shift
export program=$PWD/build/clang/tests/fuzz work=$PWD/build/fuzz
if [[ $limit == --sum ]]; then
  awk '{ last[$1] = $2; sum[$1] += $4; all += $4; if (!($1 in of)) order[++n] = $1; if (!(($1, $3) in seen)) { seen[$1, $3]; ++of[$1] } }
    END {
      for (i = 1; i <= n; ++i) printf "%s, %s: %d executions of %d targets\n", order[i], last[order[i]], sum[order[i]], of[order[i]]
      printf "%d executions in all\n", all
    }' "$work/executions"
  exit
fi
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=1 OMP_NUM_THREADS=1

[[ -f build/clang/build.ninja ]] || cmake --preset clang >/dev/null
ninja -C build/clang --quiet fuzz >/dev/null
targets=("$@")
((${#targets[@]})) || mapfile -t targets < <(HEED_FUZZ=list "$program" -runs=0 2>/dev/null)
export runs=-1 seconds=0  # of each target: any number, and no limit
case $limit in
  *,*s) runs=${limit%,*} seconds=${limit#*,} seconds=${seconds%s} ;;
  *s) seconds=$((2 * ${limit%s} / ${#targets[@]} + 1)) ;;
  *) runs=$limit ;;
esac

# Writes a seed input of target $1: the printf format $2, or standard input.
seed() {
  mkdir -p "$work/seeds/$1"
  local file
  file=$work/seeds/$1/$(find "$work/seeds/$1" -type f | wc -l)
  if (($# > 1)); then printf "$2" >"$file"; else cat >"$file"; fi
}

# Writes the seed inputs: files that heed wrote, and a minimal file of each format.
write_seeds() {
  rm -rf "$work/seeds"
  local file level run=tests/fixtures/run
  for file in configs/*.toml; do seed config <"$file"; done
  grep -v '^#' configs/reverse.toml | seed config
  seed config 'base = "base.toml"\nseed = 2\n\n%%%%%%\n[model]\nkind = "seq2seq"\n[data]\nkind = "copy"\nlengths = [1, 2]\n'
  awk '/^\[/ { gsub(/[][]/, "", $1); section = $1 "." } / = / { print section $1 "=" $3 }' $run/config.toml |
    split --lines=20 --filter="cat >$work/set-\$FILE"
  for file in "$work"/set-*; do seed set <"$file"; done
  seed set 'data.kind=copy\ndata.lengths=[1, 2]\ntrain.freeze=["a*", '"'b'"']\noptim.lr=1e-3\n'
  seed safetensors '\70\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  12345678'
  seed safetensors '\150\0\0\0\0\0\0\0{"__metadata__":{"k\\u00e9":"v"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}                    1'
  seed vocabulary <$run/vocabulary.json
  seed vocabulary '{"level": "character", "symbols": ["a", "b", "<bos>"], "prompt": 2, "answer": 3}'
  seed vocabulary '{"target": {"level": "word", "symbols": ["a", "<unk>"]}, "features": 2, "edge_features": 1, "grid": [2, 3], "labels": ["x", "y"]}'
  seed state <$run/checkpoints/step-4/state.json
  seed state '{"step": 4, "optimizer_steps": 4, "schedule": {}, "training": {}, "sha256": {}}'
  seed metrics '{"step":1,"loss":2.5,"lr":0.01}\n{"step":2,"val":{"loss":1e-3}}\n{"step":3,"loss":null}\n{"st'
  seed result <$run/result.json
  seed record <$run/run.json
  seed record '{"sessions": [{"format": 1, "data": "2cf8533cba329770", "from_step": 0, "changed": {"train.steps": ["1", "2"]}}]}'
  seed data_record '{"data": [{"files": [{"path": "a\\n.txt", "fingerprint": "2cf8533cba329770"}]}]}'
  for file in configs/sweeps/*.toml; do sed 's/^config = .*/config = "base.toml"/' "$file" | seed sweep; done
  seed sweep 'config = "base.toml"\nseeds = [1, 2]\n[axes]\n"optim.lr" = [1e-3, 2e-3]\n\n%%%%%%\nmodel.dim=8,16\n1-3\n'
  seed result '[{"a": -1.5e300, "b": [true, null, "\\u00e9\\ud834\\udd1e"]}, 9223372036854775807]'
  local images='\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\1abcd' labels='\0\0\10\1\0\0\0\2\0\1'
  seed images "$images\n%%%%%%\n$labels"
  { printf "$images" | gzip -n; printf '\n%%%%%%\n'; printf "$labels" | gzip -n; } | seed images
  for level in 0 1 2 4 5 6 14 22; do
    level=\\$(printf %o $level)
    seed text "$level"'abc déf\r\n<eos> x\tabc abc abc abc\n'
    seed lines "$level"'ab c\n\nbc d\r\né\n<bos> a\nab\n%%%%%%\nab\nc\n'
    seed pairs "$level"'a b\tb a\nc\td\na\tb\ne\tf\n'
    seed pairs "$level"'a b\nc\n%%%%%%\nb a\nd\n'
    seed examples "$level"'{"input": "a b", "target": ["x", null], "group": "g", "reference": [0.5]}\n%%%%%%\n{"source": "a\\u00e9", "target": "x"}\n'
    seed labelled "$level"'ab\tx\nc d\ty\nb\tx\nabc\ty\n%%%%%%\nc\tx\n'
  done
  for file in tests/fixtures/subwords_*.model; do seed subwords <"$file"; done
  seed prompts 'ab a <unk> é\n\t b'
  seed answered 'a\r\n\357\273\277b\n\nc'
  seed weights '\246\0\0\0\0\0\0\0{"__metadata__":{"vocabulary_sha256.rows":"ab"},"rows":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},"other":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}}00000000000000000000000000000000'
  local part separator=$'\n%%%\n'
  for file in '\nval.loss\nseed=1' 'val.loss=1\n\nmodel.dim=8\nmodel.dim\nseed' '\ntest.exact_match\noptim.lr=0.001'; do
    {
      sed 's/ *#.*//' $run/config.toml
      printf '%s' "$separator"; cat $run/run.json
      printf '%s' "$separator"; cat $run/metrics.jsonl
      printf '%s{"optim.lr":"reverse.toml:3"}%s' "$separator" "$separator"
      [[ $file != *lr* ]] || printf 'step 3: the loss is NaN'
      for part in 1 2; do printf '%s' "$separator"; cat $run/result.json; done
      printf '%s'"$file" "$separator"
    } | seed compare
  done
  for level in 1 2 5; do
    seed stream "\\$level"'{"input": "a b", "target": ["x", null]}\n{"input": "c", "target": ["x"]}\n\n%%%%%%\n{"input": "a", "target": ["x"]}\n{"input": "c", "target": ["x"]}\n'
    seed stream "\\$level"'{"source": "a b", "target": "b"}\n{"source": "c", "target": "x"}\n\n%%%%%%\n{"source": "a", "target": "b"}\n{"source": "a", "target": "b"}\n'
  done
  seed values '32:63\nval.loss=1.88\n([+*])\n(l++++++++++++++++++++++++)\nlength\n-1:5\nx=nan'
  seed words 'train\nreverse.toml\n--set\noptim.lr=1\n--run\nx\n--resume'
  seed words 'compare\nruns/a\n--target\nval.loss=1\n--csv\n--columns\na,b'
  seed words 'generate\nruns/a\n--length\n5\n--temperature=0.5\n--seed\n-1'
  seed words 'bench\n--seconds\n1e9\n--color\nnever\n--\nx'
  seed words 'course\ncheck\nsoftmax'
  seed class_plan 'late = 0.5\n[[week]]\nexercises = ["softmax"]\npoints = 10\ndue = "2026-10-12T22:00"\n[[week]]\nexercises = ["layer-norm"]\n'
  for part in / '/report?run=.&details=1' '/report?run=one&run=two&file=1' '/inside?run=.' /page.js; do
    seed request "GET ${part//%/%%} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n"
  done
  seed request 'POST /report HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 5\r\nRange: bytes=0-3,5-\r\n\r\nrun=.'
}

# How many inputs target $1 has had.
executions() { sed -n 's/^stat::number_of_executed_units: *//p' "$work/$1.log" | awk '{ sum += $1 } END { print sum + 0 }'; }

fuzz() {
  mkdir -p "$work/corpus/$1"
  local longest=2048 input runs_left=$runs seconds_left=$seconds start=$SECONDS
  [[ $1 != @(subwords|compare) ]] || longest=8192  # 256 pieces for bytes take 3 KiB, and all files of two runs
  [[ $1 != sweep ]] || longest=512  # each value of an axis makes a config
  : >"$work/$1.log"
  until HEED_FUZZ=$1 "$program" -runs=$runs_left -max_total_time=$seconds_left -entropic=0 -max_len=$longest -timeout=1 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -print_final_stats=1 -artifact_prefix="$work/findings/$1-" \
    "$work/corpus/$1" "$work/seeds/$1" >>"$work/$1.log" 2>&1; do
    # Other programs may have held the processors: a timeout counts if the input times out once more, alone.
    input=$(compgen -G "$work/findings/$1-timeout-*" | head -n 1)
    [[ $input ]] && HEED_FUZZ=$1 "$program" -timeout=1 "$input" &>"$work/$1.again.log" || { echo FAILED >>"$work/$1.log"; return; }
    rm "$input"
    ((runs < 0 || (runs_left = runs - $(executions "$1")) > 0)) || return 0
    ((seconds == 0 || (seconds_left = seconds - (SECONDS - start)) > 0)) || return 0
  done
}
export -f executions fuzz

rm -rf "$work/findings"
mkdir -p "$work/findings"
write_seeds
start=$SECONDS
printf '%s\n' "${targets[@]}" | xargs -P 2 -I TARGET bash -c 'fuzz TARGET'

commit=$(git rev-parse --short=8 HEAD 2>/dev/null) && [[ ! $(git status --porcelain) ]] || commit=changed
printf '%-12s %11s %11s %11s\n' target executions 'per second' 'inputs kept'
failed=0 all=0 slowest=''
for target in "${targets[@]}"; do
  executions=$(executions "$target")
  rate=$(sed -n "s/^stat::average_exec_per_sec: *//p" "$work/$target.log" | tail -n 1)
  printf '%-12s %11s %11s %11s\n' "$target" "$executions" "${rate:-?}" "$(find "$work/corpus/$target" -type f | wc -l)"
  echo "$commit $(date -u +%F) $target $executions" >>"$work/executions"
  all=$((all + executions))
  ((${rate:-0} >= ${slowest:-1000000000})) || slowest=$rate slowest_target=$target
  grep -q '^FAILED' "$work/$target.log" || continue
  failed=1
  grep -aE '^(SUMMARY|does not hold|Test unit written)|ERROR:|terminate' "$work/$target.log" || tail -n 5 "$work/$target.log"
done
echo "$all executions of ${#targets[@]} targets in $((SECONDS - start)) s; the slowest, ${slowest_target:-?}: ${slowest:-?} per second"
exit $failed
