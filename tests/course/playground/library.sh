#!/usr/bin/env bash
# Finds, without emscripten, where the playground's sources use what the standard library of emscripten 3.1 lacks:
# std::bit_cast, and all of std::ranges that course/playground/fallback/ranges.h does not add. core, nn and optim are
# compiled without that header.
#   library.sh SOURCES FILE.cpp…    the playground's files of apps and lab
set -euo pipefail
cd "$1"
shift
added=$(sed -nE 's/.*\b(\w+)\(Range&&.*/\1/p' course/playground/fallback/ranges.h | sort -u | paste -sd '|')
search() { grep -rnHE --include='*.h' --include='*.cpp' 'std::(ranges|views)::|std::bit_cast' "$@" 2>/dev/null; }
missing=$(
  search core nn optim || true
  search data course/playground "$@" "${@/%cpp/h}" | grep -vE "std::ranges::($added)\b" || true
)
[[ ! $missing ]] || { printf "The playground's standard library lacks this:\n%s\n" "$missing"; exit 1; }
