#!/usr/bin/env bash
# Installs heed aside, then uses it as a stranger would: find_package, headers, libraries, the program.
#   run.sh BUILD_FOLDER
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a program is linked with must be the OpenMP build of OpenBLAS, wherever the system's default points.
check_openblas() {
  local library
  library=$(ldd "$1" | awk '/libopenblas/ { print $3 }')
  if [[ $library != */openblas-openmp/* ]]; then
    echo "$1 finds OpenBLAS in '$library' and not in its openblas-openmp folder"
    exit 1
  fi
}

cmake --install "$1" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/build"
"$work/build/consumer"
check_openblas "$work/build/consumer"
"$work/prefix/bin/heed" --version
check_openblas "$work/prefix/bin/heed"
