#!/usr/bin/env bash
# Writes Doxygen's XML of the public headers into BUILD/xml: xml.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
mkdir -p "$1"
build=$(cd "$1" && pwd -P)
cd "$here/../.."

# The headers that clients include, and those that they include.
headers=$("${CXX:-c++}" -std=c++20 -I. -MM heed.h apps/run/run.h | tr ' \\' '\n\n' | grep -E '^[a-z].*\.h$' | sort -u | tr '\n' ' ')
# What fields() says of each option.
find core nn optim data -name '*.cpp' -exec awk -f "$here/fields.awk" {} + >"$build/fields"
rm -rf "$build/xml"
{
  cat "$here/Doxyfile"
  printf '%s\n' "INPUT = $headers" "OUTPUT_DIRECTORY = $build" \
    "FILTER_PATTERNS = \"*.h=awk -v fields=$build/fields -f $here/comments.awk\""
} | doxygen - >/dev/null
