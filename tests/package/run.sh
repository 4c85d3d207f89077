#!/usr/bin/env bash
# Installs heed into an empty folder, then builds and runs a client: find_package, headers, libraries, the program.
#   run.sh BUILD_FOLDER COMPILER
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A program must be linked with the OpenMP build of OpenBLAS, whichever build is the system's default.
check_openblas() {
  local library
  library=$(ldd "$1" | awk '/libopenblas/ { print $3 }')
  if [[ $library != */openblas-openmp/* ]]; then
    echo "$1 is linked with '$library', expected a library in a folder openblas-openmp"
    exit 1
  fi
}

cmake --install "$1" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
[[ ! -e $work/prefix/include/heed/core/kernels ]] || { echo "private headers are installed"; exit 1; }

# The example of README.md's section "As a library", as a function.
awk '/^## As a library/ { inside = 1 } inside && /^```$/ && code { exit } code { print } inside && /^```cpp/ { code = 1 }' \
  "$here/../../README.md" | sed 's/^int main() {/int readme_example();\nint readme_example() {/; $s/^}$/  return 0;\n}/' >"$work/readme.cpp"
grep -q readme_example "$work/readme.cpp" || { echo "README.md has no example of a client"; exit 1; }

cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$2" -DREADME_EXAMPLE="$work/readme.cpp"
cmake --build "$work/build"
"$work/build/consumer"
check_openblas "$work/build/consumer"
"$work/prefix/bin/heed" --version
check_openblas "$work/prefix/bin/heed"
[[ $(head -c 8 "$work/prefix/share/man/man1/heed.1") == ".TH HEED" ]] || { echo "no manual page is installed"; exit 1; }
bash -c '. "$1" && complete -p heed' _ "$work/prefix/share/bash-completion/completions/heed"
