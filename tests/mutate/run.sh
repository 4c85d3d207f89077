#!/usr/bin/env bash
# Mutation testing: adds small faults (mutants) to a copy of the sources and counts those that the tests detect.
#
#   run.sh [--second] [--count N] [--shard I/M] [--seed S] [--jobs N] [--again] [--report] [FOLDER…]
#
#   --second     the second set: 200 mutants of lab and of the other code of apps, and a score of 0.9
#   --count N    number of mutants, selected by the seed (default 400); independent of line numbers
#   --shard I/M  runs every M-th mutant from the I-th
#   --jobs N     number of mutants to run in parallel (default: one for each processor)
#   --again      runs earlier survivors again
#   --report     only prints the table
#   FOLDER       folders or files of sources (default: core nn optim data and the checkpoint, config and run code
#                of apps)
#
# One build, in build/mutate or build/mutate-second, contains all mutants. HEED_MUTANT=k activates mutant k. A mutant is
# killed if a test program of its folder, or of a folder that uses it, fails or takes more than three times as long as
# usual. Results are appended to results.txt there, and an interrupted run continues. Mutants of what computes numbers
# (lab/experiments, lab/inspect) run first. Equivalent mutants, which change nothing observable, are listed in
# equivalent.txt with reasons. Fails if the score, killed / (killed + survived), is below 0.97, or 0.9 of the second set.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
work=$root/build/mutate count=400 least=0.97
programs=(core core_f64 nn nn_f64 optim optim_f64 data apps lab) scripts=(kills)
folders=(core nn optim data apps/config apps/training apps/support/files.cpp)
if [[ ${1-} == --second ]]; then
  work+=-second count=200 least=0.9
  programs=(apps lab) scripts=(sweep ranks onnx)
  folders=(lab apps/{commands,cost,inference,ranks,run,support})
  shift
fi
tree=$work/tree build=$work/tree/build/release results=$work/results.txt
shard=1/1 jobs=$(nproc) seed=1 again= report= chosen=()
while (($#)); do
  case $1 in
    --count) count=$2; shift ;;
    --shard) shard=$2; shift ;;
    --seed) seed=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --again) again=1 ;;
    --report) report=1 ;;
    -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
    *) chosen+=("$1") ;;
  esac
  shift
done
((${#chosen[@]} == 0)) || folders=("${chosen[@]}")
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

# Builds the sources with all mutants and drops those that do not compile. Writes mutants.txt.
prepare() {
  touch "$work/dropped.txt" "$results"
  "${CXX:-g++}" -std=c++20 -O1 -I"$root/tests/mutate" "$root/tests/mutate/mutate.cpp" -o "$work/mutate"
  rm -rf "$work/source"
  mkdir "$work/source"
  tar -C "$root" --exclude=./build --exclude=./.git --exclude=./runs -c . | tar -C "$work/source" -x
  cd "$work/source"
  mapfile -t files < <(find "${folders[@]}" -name '*.cpp' -not -path '*/reference/*' -not -name cpu_check.cpp | sort)
  cp -au . "$tree"  # unchanged files keep their time and are not rebuilt
  comm -13 <(find . -not -type d | sort) <(cd "$tree" && find . -path ./build -prune -o -not -type d -print | sort) |
    (cd "$tree" && xargs -r rm)
  (cd "$tree" && cmake --preset release -DCMAKE_CXX_FLAGS="-w -Wno-narrowing" \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null)
  for _ in {1..8}; do
    "$work/mutate" "$work/source" "$tree" "$seed" $((count + count / 10)) "$work/dropped.txt" "${files[@]}" >"$work/mutants.txt"
    if ninja -C "$build" -k 0 -j "$jobs" "${programs[@]/#/test_}" heed_program >"$work/build.log" 2>&1; then
      drop_absent
      return
    fi
    grep -oE '^[a-z_0-9/.]+\.cpp:[0-9]+:[0-9]*:? *(error|  required)|^[a-z_0-9/.]+\.cpp:[0-9]+' "$work/build.log" |
      awk -F: '{ print $1 "\t" $2 }' | sort -u >"$work/errors.txt"
    awk -F'\t' 'FILENAME == ARGV[1] { bad[$1 "\t" $2]; next }
      { split($2, key, " [|] "); for (l = $3; l <= $4; ++l) if ((key[1] "\t" l) in bad) { print $2; next } }' \
      "$work/errors.txt" "$work/mutants.txt" >"$work/new.txt"
    # A compiler may name another line, such as the first of a struct: then the file has no mutants.
    [[ -s $work/new.txt ]] || awk -F'\t' 'FILENAME == ARGV[1] { bad[$1]; next }
      { split($2, key, " [|] "); if (key[1] in bad) print $2 }' "$work/errors.txt" "$work/mutants.txt" >"$work/new.txt"
    [[ -s $work/new.txt ]] || break
    cat "$work/new.txt" >>"$work/dropped.txt"
  done
  echo "mutate: the sources with mutants do not compile: $work/build.log" >&2
  exit 1
}

# Drops mutants in parts of a file that the preprocessor excludes.
drop_absent() {
  cd "$tree"
  local includes
  mapfile -t includes < <(grep -ohE -- '-isystem [^ "]+' "$build/compile_commands.json" | sort -u | tr ' ' '\n')
  grep -lE '^#if' "${files[@]}" | while read -r file; do
    for real in "" -DHEED_DOUBLE; do
      "${CXX:-g++}" -std=c++20 -march=native -fopenmp -I. "${includes[@]}" $real -E -P "$file"
    done | { grep -oE 'chosen == \([0-9]+\)' || true; } | tr -dc '0-9\n' | sort -u >"$work/present.txt"
    awk -F'\t' -v file="$file" 'FILENAME == ARGV[1] { present[$1]; next }
      index($2, file " | ") == 1 && !($1 in present) { print $2 }' "$work/present.txt" "$work/mutants.txt"
  done >"$work/new.txt"
  cat "$work/new.txt" >>"$work/dropped.txt"
  awk -F'\t' 'FILENAME == ARGV[1] { absent[$0]; next } !($2 in absent)' "$work/new.txt" "$work/mutants.txt" |
    sort -n | awk -v n="$count" 'NR <= n { print ($2 !~ /^lab\/(experiments|inspect)/) "\t" $0 }' | sort -s -n -k 1,1 |
    cut -f 2- >"$work/kept.txt"
  mv "$work/kept.txt" "$work/mutants.txt"
}

# Runs a command in a sandbox with a private /tmp: mutants may delete files.
sandboxed() {
  if [[ $EUID == 0 && $work != /tmp/* ]] && unshare -m true 2>/dev/null; then
    unshare -m bash -c 'mount -t tmpfs none /tmp; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' - "$@"
  else
    "$@"
  fi
}

# Prints the test programs that use the code of a file, fastest first. PROGRAM:NAME runs only the tests in NAME.cpp;
# kills, sweep, ranks and onnx are scripts.
programs_of() {
  case $1 in
    core/*) echo nn optim core core_f64 nn_f64 lab:claims data apps lab ;;
    nn/*) echo nn nn_f64 lab:claims apps lab ;;
    optim/*) echo optim optim_f64 apps lab ;;
    data/*) echo data apps lab ;;
    apps/training/*) echo apps:run apps:checkpoint apps:trainer apps:train apps lab kills ;;
    apps/config/*) echo apps:config apps lab ;;
    apps/support/files.cpp) echo apps:files apps lab ;;
    apps/ranks/*) echo apps:ranks apps lab ranks ;;
    apps/*) echo "apps:$(basename "$1" .cpp)*" apps lab ;;
    lab/inspect/*) echo "lab:inspect*" lab ;;
    lab/*/sweep*) echo lab:sweep lab sweep ;;
    lab/onnx/*) echo lab:onnx lab onnx ;;
    lab/*) echo "lab:$(basename "$1" .cpp)*" lab ;;
  esac
}

# run PROGRAM MUTANT SECONDS LOG: succeeds if the test program passes within SECONDS of processor time.
run() {
  (
    local files="*"
    [[ $1 != *:* ]] || files="*/${1#*:}.cpp"
    cd "$build"
    ulimit -t "$3" -c 0
    # One test limits a call to one second, which fails on a busy machine.
    local command=(tests/test_"${1%:*}" -sf="$files" -tce="summary: models larger than*" --abort-after=1)
    case $1 in
      kills) command=("$tree/tests/program/kills.sh" "$build/bin/heed" 8) ;;
      sweep | ranks) command=("$tree/tests/program/$1.sh" "$build/bin/heed") ;;
      onnx) command=("$tree/tests/lab/onnx/run.sh" forms "$build/tests/test_lab" "$build/bin/heed" "$root/build/node_modules") ;;
    esac
    HEED_MUTANT=$2 sandboxed timeout -k 5 $((10 * $3)) "${command[@]}"
  ) >"$work/$4" 2>&1
}

# Checks that all tests pass without a mutant. Writes the time limits to seconds.txt.
measure() {
  local program times
  for program in "${programs[@]}" "${scripts[@]}"; do
    times=$( { TIMEFORMAT='%U %S'; time run "$program" 0 1000 clean.log; } 2>&1) ||
      { echo "mutate: test_$program fails without a mutant: $work/clean.log" >&2; exit 1; }
    echo "$program $(awk '{ print int(3 * ($1 + $2)) + 10 }' <<<"$times")"
  done >"$work/seconds.txt"
}

# run_all LOG I M: runs every M-th mutant from the I-th.
run_all() {
  local number key first program state
  while IFS=$'\t' read -r number key first _; do
    if grep -qF "$key"$'\t' "$results"; then continue; fi
    state=survived
    for program in $(programs_of "${key%% | *}"); do
      if ! run "$program" "$number" "$(awk -v p="${program%:*}" '$1 == p { print $2 }' "$work/seconds.txt")" "$1"; then
        state="killed by $program"
        break
      fi
    done
    printf '%s\t%s\n' "$key" "$state" >>"$results"
    printf '%s:%s: %s: %s\n' "${key%% | *}" "$first" "${key#* | }" "$state"
  done < <(awk -v i="$2" -v m="$3" 'NR % m == i % m' "$work/mutants.txt")
}

# Prints the table and the survivors with their lines.
print_report() {
  awk -F'\t' -v least="$least" '
    FILENAME ~ /equivalent.txt$/ { if (!/^#|^ |^$/) equivalent[$0]; next }
    FILENAME ~ /results.txt$/ { state[$1] = $2; next }
    {
      split($2, part, " [|] ")
      folder = part[1]; sub(/\/.*/, "", folder)
      if (!($2 in state)) { ++left; next }
      if (!(folder in seen)) { seen[folder]; order[++folders] = folder }
      ++all[folder]
      if (state[$2] != "survived") ++killed[folder]
      else if ($2 in equivalent) ++same[folder]
      else { ++survived[folder]; line = $2; sub(/ [|] /, ":" $3 ": ", line); survivors = survivors line "\n" }
    }
    END {
      printf "%-8s %8s %8s %12s %10s\n", "folder", "mutants", "killed", "equivalent", "survived"
      for (i = 1; i <= folders; ++i) {
        f = order[i]
        printf "%-8s %8d %8d %12d %10d\n", f, all[f], killed[f], same[f], survived[f]
        a += all[f]; k += killed[f]; e += same[f]; s += survived[f]
      }
      score = k + s > 0 ? k / (k + s) : 0
      printf "%-8s %8d %8d %12d %10d\nscore %.3f", "all", a, k, e, s, score
      printf left ? "; %d not run\n" : "\n", left
      printf "%s", survivors
      exit score < least
    }' "$root/tests/mutate/equivalent.txt" "$results" "$work/mutants.txt"
}

mkdir -p "$tree"
[[ $report ]] || {
  exec 9>"$work/lock"
  flock 9  # one shard builds, the others wait
  prepare
  measure
  flock -u 9
  if [[ $again ]]; then sed -i '/\tsurvived$/d' "$results"; fi
  trap 'kill $(jobs -p) 2>/dev/null' EXIT
  for ((job = 0; job < jobs; ++job)); do
    run_all "mutant.${shard%/*}.$job.log" $(((${shard%/*} - 1) * jobs + job)) $((${shard#*/} * jobs)) &
  done
  wait
}
print_report
