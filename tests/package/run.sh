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
for header in core/kernels core/joined.h core/suggest.h data/files.h data/tasks; do
  [[ ! -e $work/prefix/include/heed/$header ]] || { echo "private headers are installed: $header"; exit 1; }
done

# The programs of docs/library.md, as functions.
for n in 1 2; do
  awk -v n=$n '/^```$/ { code = 0 } code { print } /^```cpp/ { code = ++count == n }' \
    "$here/../../docs/library.md" | sed "s/^int main() {/int library_example_$n();\nint library_example_$n() {/; \$s/^}\$/  return 0;\n}/" >"$work/example_$n.cpp"
  grep -q library_example "$work/example_$n.cpp" || { echo "docs/library.md has no program $n of a client"; exit 1; }
done

cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$2" -DLIBRARY_EXAMPLES="$work/example_1.cpp;$work/example_2.cpp"
cmake --build "$work/build"
(cd "$work" && prefix/bin/heed train "$here/../../configs/reverse.toml" --run runs/reverse \
  --set train.steps=20 --set data.val_size=20 --set data.test_size=20 >log 2>&1) || { cat "$work/log"; exit 1; }
(cd "$work" && build/consumer) | tee "$work/output"
expected=$(cd "$work" && prefix/bin/heed generate runs/reverse <<<'3 14 15 9 26')
[[ $(sed -n 2p "$work/output") == "$expected" ]] || { echo "the client predicts other outputs than heed generate: $expected"; exit 1; }
[[ $(tail -n 2 "$work/output") == $'tensor([1, 1])\nids([1, 2])' ]] || { echo "the client does not print a tensor and Ids"; exit 1; }
check_openblas "$work/build/consumer"

# The programs of examples/, at most 80 lines each.
for file in "$here"/../../examples/*.cpp; do
  (($(wc -l <"$file") <= 80)) || { echo "$file has more than 80 lines"; exit 1; }
done
cmake -S "$here/../../examples" -B "$work/examples" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$2"
cmake --build "$work/examples"
while IFS='|' read -r command expected; do
  printed=$(cd "$work" && examples/$command | tail -n 1)
  [[ $printed == $expected ]] || { echo "examples/$command ends with '$printed', expected '$expected'"; exit 1; }
done <<'END'
autodiff|x = 1.00, y = 1.00, f = 0.000000
decoder|ids(\[7, 8, 9, 0, 1, 2])
embedded_run runs/reverse|equal to one thread: true
custom_operation|agrees with central differences
custom_attention|* parameters, loss falls to [0-9] % of *
END

# By pkg-config, without CMake.
if type pkg-config &>/dev/null; then
  export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name heed.pc)")
  "$2" -std=c++20 "$here/../../examples/autodiff.cpp" -o "$work/autodiff" $(pkg-config --cflags --libs heed)
  [[ $("$work/autodiff") == "$("$work/examples/autodiff")" ]] || { echo "by pkg-config, examples/autodiff prints something else"; exit 1; }
  check_openblas "$work/autodiff"
fi
"$work/prefix/bin/heed" --version
suffix=$(sed -n 's/^set(HEED_VERSION_SUFFIX \([^)]*\)).*/\1/p' "$here/../../CMakeLists.txt")
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$1/CMakeCache.txt")$suffix
[[ $("$work/prefix/bin/heed" --version | head -n 1) =~ ^"heed $version"(, commit .*)?$ ]] || { echo "--version does not begin with heed $version"; exit 1; }
check_openblas "$work/prefix/bin/heed"
site=$(sed -n 's/^HEED_SITE:PATH=//p' "$1/CMakeCache.txt")
[[ ! -e $site/index.html || -e $work/prefix/share/doc/heed/html/api/linear.html ]] || { echo "the site is not installed: $site"; exit 1; }
[[ $(head -c 8 "$work/prefix/share/man/man1/heed.1") == ".TH HEED" ]] || { echo "no manual page is installed"; exit 1; }
bash -c '. "$1" && complete -p heed' _ "$work/prefix/share/bash-completion/completions/heed"
