#!/usr/bin/env bash
# Shows that run.sh finds an include against the order of folders: every wrong arrow is planted once, alone.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p core nn optim data apps/{support,config,cost,inference,training,commands} lab/{measure,report,commands} course/{tutor,commands}

# arrow FROM TO: a file of FROM includes one of TO, and nothing else includes anything.
arrow() {
  find . -name '*.h' -delete
  echo "#include \"$2/included.h\"" >"$1/including.h"
}
failed=0
while read -r from to; do
  arrow "$from" "$to"
  if message=$("$here/run.sh" . 2>&1) || [[ $message != "$from/including.h includes $to/included.h, but"* ]]; then
    echo "$from → $to is not found: $message"
    failed=1
  fi
done <<'END'
core nn
core apps/support
nn optim
nn data
optim data
data apps/config
apps/support apps/config
apps/config apps/training
apps/inference apps/training
apps/training apps/cost
apps/training lab/measure
apps/cost lab/measure
apps/commands lab/commands
apps/commands lab/report
apps/commands course/commands
apps lab/commands
lab/measure lab/report
lab/report course/tutor
lab/commands course/commands
lab lab/commands
END

while read -r from to; do
  arrow "$from" "$to"
  message=$("$here/run.sh" . 2>&1) || { echo "$from → $to is allowed: $message"; failed=1; }
done <<'END'
apps/commands apps/cost
lab/measure apps/cost
lab/commands apps/commands
course/tutor apps/config
END
exit $failed
