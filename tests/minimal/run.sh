#!/usr/bin/env bash
# Builds the program `minimal` in a folder of its own, and compares it with heed.
#
#   run.sh quick PROGRAM COMPILER    20 steps have the losses of `heed train`; wrong arguments exit with 2
#   run.sh nightly COMPILER          all three experiments to the end: the test examples are right
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "minimal: $*" >&2; exit 1; }

# As the preset, but in the temporary folder. The build asks for no package but fmt, and links nothing else.
build() {
  cmake -S "$root" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_BUILD_TYPE=Release -DHEED_MINIMAL=ON \
    -DHEED_WERROR=ON --trace --trace-redirect="$work/trace" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake fails"; }
  searched=$(grep -oE "^$root/.*: *find_(package|library|path|file)\([A-Za-z]+" "$work/trace" | sed 's/.*(//' | sort -u)
  [[ $searched == fmt ]] || fail "CMake looks for other packages than fmt: $searched"
  start=$SECONDS
  ninja -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; fail "it does not build"; }
  echo "built in $((SECONDS - start)) s"
  others=$(ldd "$work/build/minimal" | awk '{ print $1 }' |
    grep -vE '(linux-vdso|libfmt|libstdc\+\+|libgcc_s|libc\+\+|libc\+\+abi|libunwind|libm|libc|libdl|libpthread|ld-linux[^/]*)\.so' || true)
  [[ ! $others ]] || fail "it is linked with $others"
}

# The losses of the first steps: of a program's lines, of a run's metrics.
printed() { sed -nE 's/^step +[0-9]+ +loss ([0-9.]+) .*/\1/p'; }
logged() { sed -nE 's/^\{"step":[0-9]+,"loss":([0-9.e-]+),.*/\1/p' "$1"; }

case $1 in
  quick)
    program=$2
    build "$3"
    for experiment in reverse:5000 sort:1500; do
      name=${experiment%:*}
      "$program" train "$root/configs/$name.toml" --run "$work/$name" --set train.steps=20 --set train.log_every=1 \
        --set schedule.steps="${experiment#*:}" --set train.samples=0 >"$work/log" 2>&1 || { cat "$work/log"; fail "heed fails"; }
      "$work/build/minimal" "$name" 20 >"$work/$name.txt"
      paste <(printed <"$work/$name.txt") <(logged "$work/$name/metrics.jsonl") | awk -v name="$name" '
        { d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > 1e-5) { print name ": step " NR ": " $0; bad = 1 } }
        END { if (NR != 20) print name ": " NR " losses"; exit bad || NR != 20 }' || fail "the losses of heed train differ"
      grep -cE ' → .*\((right|wrong)\)$' "$work/$name.txt" | grep -qx 3 || fail "$name shows no three examples"
    done
    "$work/build/minimal" usual 2 | grep -q '^step    2  loss [0-9]' || fail "usual does not train"
    "$work/build/minimal" --help | grep -q '^minimal EXPERIMENT' || fail "no help"
    for arguments in "sorting" "sort 0" "sort -3" "sort 1e3" "sort 5 6"; do
      code=0
      # shellcheck disable=SC2086
      "$work/build/minimal" $arguments >"$work/log" 2>&1 || code=$?
      [[ $code == 2 && $(wc -l <"$work/log") == 1 ]] || fail "$arguments: exit code $code: $(cat "$work/log")"
    done
    ;;
  nightly)
    build "$2"
    for name in reverse sort usual; do
      "$work/build/minimal" "$name" >"$work/$name.txt"
      tail -n 4 "$work/$name.txt"
      least=1
      [[ $name != reverse ]] || least=0.99  # the goal of its config
      awk -v least=$least '/^test: / { found = $2 } END { exit found < least }' "$work/$name.txt" ||
        fail "$name: too few test examples are right"
    done
    ;;
esac
echo "minimal: all tests pass"
