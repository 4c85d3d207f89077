#!/usr/bin/env bash
# Builds the site and opens it in Chromium; see browser.py. Skipped where a tool is missing. If the playground is not
# built (./heed playground), a placeholder replaces it, and the front page cannot train.
#   run.sh FOLDER [FOLDER FOR SCREENSHOTS]    builds in FOLDER, which keeps npm's packages
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
for tool in node npm doxygen python3 chromium chromedriver; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
python3 -c "import selenium" &>/dev/null || { echo "skipped: python3-selenium is not installed"; exit; }
mkdir -p "$1"
root=$here/../../..
playground=$root/build/playground/index.html
if [[ ! -f $playground ]]; then
  playground=$1/playground.html
  printf '%s\n' '<!DOCTYPE html>' '<title>Playground</title>' '<p id="here">In place of the playground' >"$playground"
fi
"$root/course/site/site.sh" "$1" "$1/site" "$playground"
PYTHONPATH=$here/../../lab/report exec python3 -B "$here/browser.py" "$1/site" "${@:2}"
