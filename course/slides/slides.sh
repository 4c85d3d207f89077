#!/usr/bin/env bash
# Makes the slides of the course: slides.sh BUILD OUT
#
# BUILD is a folder for npm's packages, OUT gets week-N.html. The packages are those of package-lock.json, with its
# checksums; nothing else is fetched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
mkdir -p "$1" "$2"
out=$(cd "$2" && pwd -P)
tar -C "$here" -c . | tar -C "$1" -x
cd "$1"
if ! cmp -s package-lock.json node_modules/.heed-lock; then
  npm ci --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.heed-lock
fi
node slides.js "$here/../.." "$out"
