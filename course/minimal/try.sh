#!/usr/bin/env bash
# Builds the program `minimal` with one of the changes of course/minimal.md, and runs it.
#
#   try.sh CHANGE [ARGUMENTS]    CHANGE is a name of this folder, such as no-mask; "as it is" changes nothing
#
# The sources stay as they are: a copy of them in build/minimal-changes is changed. HEED_BUILD=DIR builds in DIR.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
work=${HEED_BUILD:-$root/build}/minimal-changes
[[ $# -gt 0 ]] || { echo "usage: $0 CHANGE [ARGUMENTS]" >&2; exit 2; }
change=$1
shift
[[ $change == "as it is" || -f $here/$change.patch ]] || { echo "$0: there is no change called $change" >&2; exit 2; }

# Files that are as they were keep their times, so that only a few are compiled again.
mkdir -p "$work/source"
(cd "$root" && find CMakeLists.txt cmake core nn optim data apps/minimal -type f) | while read -r file; do
  cmp -s "$root/$file" "$work/source/$file" ||
    { mkdir -p "$work/source/$(dirname "$file")" && cp "$root/$file" "$work/source/$file"; }
done
[[ $change == "as it is" ]] || (cd "$work/source" && patch -s -p1 <"$here/$change.patch")
{
  cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEED_MINIMAL=ON &&
    cmake --build "$work/build"
} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$work/build/minimal" "$@"
