#!/usr/bin/env bash
# A program with kernels of the kinds v9, which nobody has, v3 and v2, its own, becomes the best one that runs here.
#   choose_kernels.sh PROGRAM
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset HEED_KERNELS
mkdir "$work"/{bin,libexec,elsewhere}
cp "$1" "$work/bin/heed"
ln -s ../bin/heed "$work/elsewhere/other name"
cd "$work"

# expect CODE OUTPUT COMMAND…: of the output the first line counts. A shell takes the place of the program for v3.
expect() {
  local code=0 output
  output=$("${@:3}" 2>&1) || code=$?
  [[ $code == "$1" && ${output%%$'\n'*} == "$2" ]] || { printf '%s\nexit code %s\n%s\n' "${*:3}" "$code" "$output"; exit 1; }
}
here=(-c 'echo "v3 as $0"; exit 7')
own='a static object was made before the processor was checked'
expect 1 "error: $work/libexec/heed-x86-64-v3: No such file or directory: unpack the archive again, or set HEED_KERNELS=v2, which is slower" \
  bin/heed "${here[@]}"
expect 0 "$own" env HEED_KERNELS=v2 bin/heed
ln -s /bin/sh libexec/heed-x86-64-v3
expect 7 "v3 as bin/heed" bin/heed "${here[@]}"
expect 7 "v3 as heed" env PATH="$work/bin:$PATH" heed "${here[@]}"
expect 7 "v3 as elsewhere/other name" "elsewhere/other name" "${here[@]}"
expect 7 "v3 as bin/heed" env HEED_KERNELS=v3 bin/heed "${here[@]}"
expect 7 "v3 as bin/heed" env HEED_KERNELS= bin/heed "${here[@]}"
for kind in v9 v4 v native; do
  expect 2 "error: HEED_KERNELS=$kind: this program has kernels for this processor called v3 v2; choose one of them, or unset HEED_KERNELS" \
    env HEED_KERNELS=$kind bin/heed
done
