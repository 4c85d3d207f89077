#!/usr/bin/env bash
# Builds the playground with emscripten and tests it: compares its module with the program and with the library in
# double, watches its memory, and opens its page in Chromium. Skipped where a tool is missing.
#   run.sh [BUILD [FOLDER FOR SCREENSHOTS]]    BUILD: a configured build of heed (default: build/release)
set -euo pipefail
for tool in emcmake node ninja python3 chromium chromedriver; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
python3 -c "import selenium" &>/dev/null || { echo "skipped: python3-selenium is not installed"; exit; }
tests=$(dirname "$(readlink -f "$0")")
sources=$(cd "$tests/../../.." && pwd -P)
native=${1:-$sources/build/release} program=$native/bin/heed
build=$sources/build/playground tasks=$sources/course/playground/tasks
ninja -C "$native" --quiet heed_program playground_double
# Builds the module in folder $1, with these options of cmake.
build_module() {
  echo "building $1: the first time this takes minutes"
  "$sources/course/playground/playground.sh" "$@" >/dev/null
}
# A build that is killed with its compilers goes on at the next call.
for _ in 1 2 3; do
  timeout -s KILL $((RANDOM % 40 + 1)) "$sources/course/playground/playground.sh" "$build" &>/dev/null || true
done
build_module "$build"
build_module "$build/double" -DHEED_DOUBLE=ON

size=$(stat -c %s "$build/index.html")
((size <= 4000000)) || { echo "the page has $size bytes, more than 4 MB"; exit 1; }
node "$tests/losses.cjs" float "$build/heed.js" "$tasks" "$program"
node "$tests/losses.cjs" double "$build/double/heed.js" "$tasks" "$native/tests/playground_double"
node "$tests/memory.cjs" "$build/heed.js" "$tasks/sort.toml" 200 10000
exec python3 -B "$tests/browser.py" "$build/index.html" "$program" "${@:2}"
