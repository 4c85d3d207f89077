#!/usr/bin/env bash
# Configures a build with the module of Python, runs its tests, and the notebook of docs as its wheel gives it. Then runs the
# tests with the sanitizers of addresses and undefined behaviour.
#   nightly.sh BUILD
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
python3 "$root/docs/notebook.py" "$root/docs/first.py" - | diff - "$root/docs/first.ipynb" ||
  { echo "docs/first.ipynb: python3 docs/notebook.py docs/first.py docs/first.ipynb"; exit 1; }
# build PRESET FOLDER
build() {
  cmake --preset "$1" -S "$root" -B "$2" -DHEED_PYTHON=ON -DHEED_TESTS=OFF -DHEED_COURSE=OFF >/dev/null
  ninja -C "$2" --quiet heed_python
}
build release "$1"
python=$(sed -n "s/^_Python_EXECUTABLE:INTERNAL=//p" "$1/CMakeCache.txt")
HEED_NOTEBOOK=$root/docs/first.ipynb "$root/tests/python/run.sh" "$1" "$python" test_heed test_texts test_forms

build asan "$1-asan"
# libstdc++ is loaded before Python, too, whose functions that throw the sanitizer looks up when it starts.
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
  PYTHONPATH=$1-asan/python:$root/tests/python "$python" -m unittest test_heed test_forms
