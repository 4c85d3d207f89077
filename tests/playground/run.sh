#!/usr/bin/env bash
# Builds the playground with emscripten, compares its module with the program, and opens its page in Chromium. Skipped
# where a tool is missing.
#   run.sh SOURCES PROGRAM [FOLDER FOR SCREENSHOTS]
set -euo pipefail
for tool in emcmake node ninja python3 chromium chromedriver; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
sources=$1 program=$2
shift 2
build=$sources/build/playground tests=$sources/tests/playground
[[ -f $build/build.ninja ]] || emcmake cmake -S "$sources/apps/playground" -B "$build" -G Ninja >/dev/null
ninja -C "$build" --quiet
size=$(stat -c %s "$build/index.html")
((size <= 3 << 20)) || { echo "the page has $size bytes, more than 3 MiB"; exit 1; }
node "$tests/losses.cjs" "$build/heed.js" "$sources/apps/playground/tasks" "$program"
node "$tests/memory.cjs" "$build/heed.js" "$sources/apps/playground/tasks/sort.toml" 20 500
exec python3 -B "$tests/browser.py" "$build/index.html" "$@"
