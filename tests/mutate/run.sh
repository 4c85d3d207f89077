#!/usr/bin/env bash
# Mutation testing: adds small faults (mutants) to a copy of the sources and counts those that the tests detect.
#
#   run.sh [--second] [--count N] [--shard I/M] [--seed S] [--jobs N] [--again] [--report] [FOLDER…]
#
#   --second     the second set: 200 mutants of lab and of the other code of apps, and a score of 0.9
#   --count N    number of mutants, selected by the seed (default 400); independent of line numbers
#   --shard I/M  runs every M-th mutant from the I-th
#   --jobs N     number of mutants to run in parallel (default: one for each processor)
#   --again      runs earlier survivors again, and the equivalent mutants
#   --report     only prints the table
#   FOLDER       folders or files of sources (default: core nn optim data and the checkpoint, config and run code
#                of apps)
#
# One build, in build/mutate or build/mutate-second, contains all mutants. HEED_MUTANT=k activates mutant k. First, each test
# case runs in a process of its own and without a mutant, which shows the mutants that it reaches and how long it takes. Then
# each mutant runs the cases that reach it, the quick ones first. It is killed if one of them fails, or if they take more
# than three times as long as usual. Results are appended to results.txt there, and an interrupted run continues. Mutants of
# what computes numbers (lab/experiments, lab/inspect) run first. Equivalent mutants, which change nothing observable, are
# listed in equivalent.txt with reasons, and run only with --again. Fails if the score, killed / (killed + survived), is
# below 0.97, or 0.9 of the second set.
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
      [[ -s $work/new.txt ]] || return 0
      continue  # builds without these, so that the next call builds nothing
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

# run PROGRAM CASES SECONDS LOG: succeeds if the cases of a test program pass within so many seconds of processor time. CASES
# are doctest's patterns. kills, sweep, ranks and onnx are scripts, which are one case each.
run() {
  (
    cd "$build"
    ulimit -t "$3" -c 0
    local command=(tests/test_"$1" -tc="$2" --abort-after=1)
    case $1 in
      kills) command=("$tree/tests/program/kills.sh" "$build/bin/heed" 8) ;;
      sweep | ranks) command=("$tree/tests/program/$1.sh" "$build/bin/heed") ;;
      onnx) command=("$tree/tests/lab/onnx/run.sh" forms "$build/tests/test_lab" "$build/bin/heed" "$root/build/node_modules") ;;
    esac
    sandboxed timeout -k 5 $((10 * $3)) "${command[@]}"
  ) </dev/null >"$work/$4" 2>&1
}

# Prints the test cases of all programs as lines of program and pattern: a comma would separate two patterns. One case limits
# a call to one second, which fails on a busy machine.
cases() {
  local program
  for program in "${programs[@]}"; do
    "$build/tests/test_$program" -ltc -tce="summary: models larger than*" | sed '/^\[doctest\]/d; /^=*$/d' | sort -u |
      tr ',\\' '??' | sed "s/^/$program\t/"
  done
  printf '%s\tall\n' "${scripts[@]}"
}

# reach PROGRAM CASE NUMBER: runs one case without a mutant, and writes the mutants that it reaches to cases/NUMBER, each with
# program, case and seconds.
reach() {
  [[ ! -e $work/cases/$3 ]] || return 0  # of an interrupted run
  local times found=$work/cases/$3.found
  : >"$found"
  chmod a+w "$found"  # for the sandbox
  times=$( { TIMEFORMAT='%U %S'; time HEED_REACHED=$found run "$1" "$2" 3600 "cases/$3.log"; } 2>&1) ||
    { echo "mutate: fails without a mutant: $1, $2: $work/cases/$3.log"; return 1; }
  sort -u "$found" | awk -v of="$1"$'\t'"$2" -v times="$times" 'BEGIN { split(times, t, " ") }
    { print $1 "\t" of "\t" t[1] + t[2] }' >"$work/cases/$3"
  rm "$found"
}

# Writes reached.txt: mutant, program, case, seconds.
find_reached() {
  local program
  for program in "${programs[@]/#/tests/test_}" bin/heed; do
    [[ $work/cases -nt $build/$program ]] || rm -rf "$work/cases" "$work/reached.txt"
  done
  [[ ! -e $work/reached.txt ]] || return 0
  mkdir -p "$work/cases"
  export -f reach run sandboxed
  export work build tree root
  cases | awk '{ print $0 "\t" NR }' | tr '\t\n' '\0\0' | xargs -0 -n 3 -P "$jobs" bash -c 'reach "$@" || exit 255' - >&2
  cat "$work"/cases/*[0-9] >"$work/reached.txt"
}

# batches MUTANT: prints the cases that reach it as lines of program, seconds and patterns: the quick ones of each program,
# then the others.
batches() {
  awk -F'\t' -v mutant="$1" '$1 == mutant {
    batch = ($4 > 0.3) "\t" $2
    seconds[batch] += $4
    names[batch] = names[batch] (names[batch] == "" ? "" : ",") $3
  }
  END { for (batch in names) print batch "\t" seconds[batch] "\t" names[batch] }' "$work/reached.txt" |
    sort -t $'\t' -k 1,1n -k 3,3n | cut -f 2-
}

# run_all LOG I M: runs every M-th mutant from the I-th.
run_all() {
  local number key first program seconds names state
  while IFS=$'\t' read -r number key first _; do
    if grep -qF "$key"$'\t' "$results"; then continue; fi
    if [[ ! $again ]] && grep -qxF "$key" "$root/tests/mutate/equivalent.txt"; then continue; fi
    state=survived
    while IFS=$'\t' read -r program seconds names; do
      if ! HEED_MUTANT=$number run "$program" "$names" "$(awk -v s="$seconds" 'BEGIN { print int(3 * s) + 10 }')" "$1"; then
        state="killed by $program"
        break
      fi
    done < <(batches "$number")
    printf '%s\t%s\n' "$key" "$state" >>"$results"
    printf '%s:%s: %s: %s\n' "${key%% | *}" "$first" "${key#* | }" "$state"
  done < <(awk -v i="$2" -v m="$3" 'NR % m == i % m' "$work/mutants.txt")
}

# Prints the survivors with their lines, and the table.
print_report() {
  awk -F'\t' -v least="$least" '
    FILENAME ~ /equivalent.txt$/ { if (!/^#|^ |^$/) { equivalent[$0]; state[$0] = "survived" }; next }  # unless it was run
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
      printf "%s%-8s %8s %8s %12s %10s\n", survivors, "folder", "mutants", "killed", "equivalent", "survived"
      for (i = 1; i <= folders; ++i) {
        f = order[i]
        printf "%-8s %8d %8d %12d %10d\n", f, all[f], killed[f], same[f], survived[f]
        a += all[f]; k += killed[f]; e += same[f]; s += survived[f]
      }
      score = k + s > 0 ? k / (k + s) : 0
      printf "%-8s %8d %8d %12d %10d\nscore %.3f, of %d mutants", "all", a, k, e, s, score, k + s
      printf left ? "; %d not run\n" : "\n", left
      exit score < least
    }' "$root/tests/mutate/equivalent.txt" "$results" "$work/mutants.txt"
}

mkdir -p "$tree"
[[ $report ]] || {
  exec 9>"$work/lock"
  flock 9  # one shard builds, the others wait
  prepare
  find_reached
  flock -u 9
  if [[ $again ]]; then sed -i '/\tsurvived$/d' "$results"; fi
  trap 'kill $(jobs -p) 2>/dev/null' EXIT
  for ((job = 0; job < jobs; ++job)); do
    run_all "mutant.${shard%/*}.$job.log" $(((${shard%/*} - 1) * jobs + job)) $((${shard#*/} * jobs)) &
  done
  wait
}
print_report
