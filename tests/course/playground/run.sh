#!/usr/bin/env bash
# Builds the playground with emscripten, compares its module with the program, and opens its page in Chromium. Skipped
# where a tool is missing.
#   run.sh SOURCES BUILD PROGRAM NATIVE_DOUBLE [FOLDER FOR SCREENSHOTS]
set -euo pipefail
for tool in emcmake node ninja python3 chromium chromedriver; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
sources=$1 native=$2 program=$3 native_double=$4
shift 4
build=$sources/build/playground tests=$sources/tests/course/playground tasks=$sources/course/playground/tasks
# Builds the module in folder $1, with these options of cmake.
build_module() {
  [[ -f $1/build.ninja ]] || emcmake cmake -S "$sources/course/playground" -B "$1" -G Ninja "${@:2}" >/dev/null
  ninja -C "$1" --quiet
}
build_module "$build"
build_module "$build/double" -DHEED_DOUBLE=ON
ninja -C "$native" --quiet playground_double

size=$(stat -c %s "$build/index.html")
((size <= 4000000)) || { echo "the page has $size bytes, more than 4 MB"; exit 1; }
node "$tests/losses.cjs" float "$build/heed.js" "$tasks" "$program"
node "$tests/losses.cjs" double "$build/double/heed.js" "$tasks" "$native_double"
node "$tests/memory.cjs" "$build/heed.js" "$tasks/sort.toml" 200 10000
exec python3 -B "$tests/browser.py" "$build/index.html" "$program" "$@"
