#!/usr/bin/env bash
# Compiles core, nn, optim and data with clang and LLVM's standard library, as on macOS, and runs their tests.
#   libcxx.sh SOURCE_FOLDER BUILD_FOLDER
# fmt is used as headers, and data is built without SentencePiece, because Debian builds both with GCC's library.
set -euo pipefail
source=$1 build=$2
[[ -e /usr/lib/llvm-14/include/c++/v1/vector ]] || { echo "skipped: libc++ is not installed (Debian: libc++-14-dev, libc++abi-14-dev)"; exit 0; }
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_CXX_FLAGS="-stdlib=libc++ -DFMT_HEADER_ONLY" \
  -DCMAKE_DISABLE_FIND_PACKAGE_SentencePiece=ON -DHEED_WERROR=ON -DHEED_TESTS=ON >/dev/null
ninja -C "$build" --quiet test_core test_nn test_optim test_data
ctest --test-dir "$build" --output-on-failure -R '^(core|nn|optim|data)$'
