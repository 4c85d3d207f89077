#!/usr/bin/env bash
# Runs clang-tidy over every header and, folder by folder, over the source files. The files of a folder are one
# translation unit: parsing them together takes a tenth of the time.
#   tidy.sh [FOLDER…]       such as core/ops; default: all headers, and the folders of `folders` below
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
folders=(core core/ops nn optim data data/tasks apps/support apps/config apps/cost apps/inference apps/training apps/run
  lab/claims lab/experiments lab/inspect lab/measure lab/onnx lab/report course/tutor)
(($#)) && folders=("$@")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files 'core/*.h' 'nn/*.h' 'optim/*.h' 'data/*.h' 'apps/*.h' 'lab/*.h' 'course/tutor/*.h' 'course/playground/*.h' 'course/commands/*.h' 'tests/*.h' |
  sed 's/.*/#include "&"/' >"$work/headers.cpp"
for folder in "${folders[@]}"; do
  git ls-files "$folder/*.cpp" | grep -E "^$folder/[^/]*$" | grep -v cpu_check | sed 's/.*/#include "&"/' >"$work/${folder//\//_}.cpp"
done
ls "$work"/*.cpp | xargs -P 2 -n 1 sh -c \
  'clang-tidy --quiet "$0" -- -std=c++20 -I. -Itests -Itests/apps -DHEED_VERSION=\"\" -DHEED_COMPILER=\"\" -DHEED_FLAGS=\"\" -DHEED_OLDEST_KERNELS=\"\" -Wno-unknown-pragmas >"$0.log" 2>&1 || { cat "$0.log"; exit 255; }'
