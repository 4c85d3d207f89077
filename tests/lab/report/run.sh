#!/usr/bin/env bash
# Opens reports and live pages in Chromium; see browser.py. Skipped where a tool is missing.
#   run.sh PROGRAM [FOLDER FOR SCREENSHOTS]
set -euo pipefail
for tool in python3 chromium chromedriver; do
  type "$tool" &>/dev/null || { echo "skipped: $tool is not installed"; exit; }
done
python3 -c "import selenium" &>/dev/null || { echo "skipped: python3-selenium is not installed"; exit; }
exec python3 -B "$(dirname "$(readlink -f "$0")")/browser.py" "$@"
