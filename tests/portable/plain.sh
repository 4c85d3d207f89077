#!/usr/bin/env bash
# Compiles heed with what it uses on systems other than Linux (HEED_PLAIN_SYSTEM) and with the plain BLAS of netlib, and
# runs the tests of that: the library's, and those of runs and sweeps. macOS takes the same code, with Accelerate.
#   plain.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source=$1 build=$2
blas=/usr/lib/$(uname -m)-linux-gnu/blas/libblas.so.3
[[ -e $blas ]] || { echo "skipped: there is no $blas (Debian: libblas3)"; exit 0; }
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_FLAGS=-DHEED_PLAIN_SYSTEM -DHEED_BLAS="$blas" \
  -DHEED_WERROR=ON -DHEED_TESTS=ON >/dev/null
ninja -C "$build" --quiet test_core test_nn test_optim test_apps heed_program
"$build/tests/test_core" -tce="op table*,system memory: what is available*,system memory: a control group*"
"$build/tests/test_nn"
"$build/tests/test_optim"
"$build/tests/test_apps" -tc="files:*,run:*,named run:*,checkpoint:*,run record:*"

# The program finds itself by PATH, and trains the runs of a sweep.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$build/bin:$PATH
fail() { echo "$*"; exit 1; }
[[ $(heed --version) == *"BLAS: $blas"* ]] || fail "the program is not built with $blas: $(heed --version)"
heed sweep --config "$source/configs/sort.toml" --axis optim.lr=1e-3,1e-4 --set train.steps=2 --run sweep >output 2>&1 ||
  fail "$(<output)"
grep -hA1 '"command"' sweep/*/*/run.json | grep -qF "\"$build/bin/heed\"" || fail "run.json does not name $build/bin/heed"
