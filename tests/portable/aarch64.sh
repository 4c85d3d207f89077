#!/usr/bin/env bash
# Compiles heed for ARM (aarch64) and runs the tests of core, nn and optim, and a short training, in an emulator.
#   aarch64.sh SOURCE_FOLDER BUILD_FOLDER HEED      HEED is this machine's program: the scores must agree
# In Debian, with `dpkg --add-architecture arm64`: g++-aarch64-linux-gnu, qemu-user, and libfmt-dev, libspdlog-dev,
# libssl-dev, libtomlplusplus-dev, libopenblas-openmp-dev and zlib1g-dev of arm64.
set -euo pipefail
source=$1 build=$2 heed=$3
libraries=/usr/lib/aarch64-linux-gnu
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  type "$tool" &>/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
for library in openblas-openmp/libopenblas.so libspdlog.so libcrypto.so libtomlplusplus.so libfmt.so libz.so; do
  [[ -e $libraries/$library ]] || { echo "skipped: there is no $libraries/$library"; exit 0; }
done

# SentencePiece's package is of one architecture at a time, so ARM is built without it.
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \
  -DOPENSSL_CRYPTO_LIBRARY=$libraries/libcrypto.so -DCMAKE_DISABLE_FIND_PACKAGE_SentencePiece=ON \
  -DHEED_ARCH= -DHEED_WERROR=ON -DHEED_TESTS=ON >/dev/null
ninja -C "$build" --quiet test_core test_nn test_optim heed-trainer
qemu-aarch64 "$build/tests/test_nn"
qemu-aarch64 "$build/tests/test_optim"
qemu-aarch64 "$build/tests/test_core" -tce="op table*"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=("$source/configs/sort.toml" --set train.steps=50 --set threads=1)
qemu-aarch64 "$build/bin/heed-trainer" train "${options[@]}" --run "$work/arm" >/dev/null
"$heed" train "${options[@]}" --run "$work/native" >/dev/null
loss() { sed -n 's/.*"val":{"loss":\([0-9.]*\).*/\1/p' "$1/metrics.jsonl"; }
awk -v arm="$(loss "$work/arm")" -v native="$(loss "$work/native")" 'BEGIN {
  printf "validation loss after 50 steps: %s on ARM, %s here\n", arm, native
  exit !(arm > 0 && native > 0 && (arm - native) ^ 2 < 0.001 ^ 2)
}'
