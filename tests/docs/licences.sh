#!/usr/bin/env bash
# Prints the lines of docs/licences.md about modules of npm: each licence with its modules, from the lock files. Fails for a module
# without a licence, and for a package of Debian that cmake/packages.txt, .ci/run or Containerfile names and the page does not, or the
# other way round.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

awk '
  function ends() { if (name) print "\t" name; name = "" }
  /^    ".*node_modules\/[^"]+": \{$/ { ends(); name = $0; sub(/^.*node_modules\//, "", name); sub(/": \{$/, "", name) }
  /^      "license": / { split($0, part, "\""); print part[4] "\t" name; name = "" }
  END { ends() }' \
  tests/{javascript,lab/onnx}/package-lock.json course/site/package-lock.json | LC_ALL=C sort -u |
  awk -F '\t' '
    !$1 { print "no licence: " $2 | "cat >&2"; bad = 1; next }
    $1 != last { if (last) print ""; printf "- %s: %s", $1, $2; last = $1; next }
    { printf ", %s", $2 }
    END { print ""; exit bad }'

used() {
  awk -F ' *[|] *' 'NR > 2 { print $3 }' cmake/packages.txt
  sed -nE 's/.*(^| )install ([a-z].*)/\2/p' .ci/run | sed 's/ #.*//'
  sed -nE 's/^RUN .*--no-install-recommends //p' Containerfile
}
diff <(used | sed 's/ [\\&].*//' | tr ' ' '\n' | grep . | LC_ALL=C sort -u) \
  <(sed -nE 's/^\| ([a-z0-9+. -]+) \| [^|]*[A-Za-z][^|]* \|.*/\1/p' docs/licences.md | tr ' ' '\n' | grep -vx packages | LC_ALL=C sort -u) >&2
