#!/usr/bin/env bash
# Makes the archive for ARM (packaging/release.sh), and in an emulator trains with its program and runs the tests of core, nn,
# optim and data.
#   aarch64.sh SOURCE_FOLDER WORK_FOLDER HEED      HEED is this machine's program: the scores must agree
# Needs qemu-user, and the packages that docs/install.md names for ARM.
set -euo pipefail
source=$1 work=$2 heed=$3
libraries=/usr/lib/aarch64-linux-gnu
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  type "$tool" &>/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
for library in openblas-openmp/libopenblas.a libcrypto.a libz.a cmake/{fmt,spdlog,tomlplusplus}; do
  [[ -e $libraries/$library ]] || { echo "skipped: there is no $libraries/$library"; exit 0; }
done
build=$work/build/aarch64 runs=$work/runs
rm -rf "$work/output" "$runs"
CXXFLAGS=-Werror "$source/packaging/release.sh" "$work/output" "$work/build" aarch64
mkdir "$runs"
tar -xf "$work"/output/*.tar.gz -C "$runs" --strip-components=1

# The vectors of core/kernels/simd/vector.h are registers of NEON, and its fma is one instruction.
instructions=$(aarch64-linux-gnu-objdump -d "$build/core/libheed_core.a" | grep -cE 'fmla\s+v[0-9]+\.4s')
echo "$instructions instructions of core multiply and add four lanes"
((instructions > 100))

options=("$source/configs/sort.toml" --set train.steps=50 --set threads=1)
qemu-aarch64 "$runs/bin/heed" train "${options[@]}" --run "$runs/arm" >/dev/null
"$heed" train "${options[@]}" --run "$runs/native" >/dev/null
loss() { sed -n 's/.*"val":{"loss":\([0-9.]*\).*/\1/p' "$1/metrics.jsonl"; }
awk -v arm="$(loss "$runs/arm")" -v native="$(loss "$runs/native")" 'BEGIN {
  printf "validation loss after 50 steps: %s on ARM, %s here\n", arm, native
  exit !(arm > 0 && native > 0 && (arm - native) ^ 2 < 0.001 ^ 2)
}'

cmake "$build" -DHEED_TESTS=ON >/dev/null
ninja -C "$build" --quiet test_core test_nn test_optim test_data
for room in nn optim data; do qemu-aarch64 "$build/tests/test_$room"; done
qemu-aarch64 "$build/tests/test_core" -tce="op table*"
