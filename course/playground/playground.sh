#!/usr/bin/env bash
# Builds the playground with emscripten: playground.sh BUILD [OPTION OF CMAKE…]    BUILD/index.html becomes its page
set -euo pipefail
build=$1
shift
if [[ ! -f $build/build.ninja ]]; then
  output=$(emcmake cmake -S "$(dirname "$0")" -B "$build" -G Ninja "$@" 2>&1) || { printf '%s\n' "$output" >&2; exit 1; }
fi
exec ninja -C "$build"
