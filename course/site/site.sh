#!/usr/bin/env bash
# Builds the site: site.sh BUILD OUT PLAYGROUND
#
# BUILD is a folder for npm's packages and Doxygen's XML, OUT becomes the site, PLAYGROUND is the playground's page, if it
# has been built. The packages are those of package-lock.json, with its checksums; nothing else is fetched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
mkdir -p "$1" "$2"
build=$(cd "$1" && pwd -P) out=$(cd "$2" && pwd -P) playground=
if [[ -f $3 ]]; then
  playground=$(cd "$(dirname "$3")" && pwd -P)/${3##*/}
else
  echo "heed: the site has no playground; ./heed playground builds it, and the next ./heed site includes it"
fi

mkdir -p "$build/tools"
tar -C "$here" -c . | tar -C "$build/tools" -x
cd "$build/tools"
if ! cmp -s package-lock.json node_modules/.heed-lock; then
  npm ci --no-audit --no-fund --loglevel=error >/dev/null
  cp package-lock.json node_modules/.heed-lock
fi

"$here/xml.sh" "$build"
rm -rf "${out:?}"/*
cd "$build/tools"
HEED_ROOT=$root HEED_OUT=$out HEED_XML=$build/xml HEED_PLAYGROUND=$playground \
  node_modules/.bin/eleventy --config=eleventy.config.js --quiet
