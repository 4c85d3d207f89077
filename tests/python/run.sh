#!/usr/bin/env bash
# Builds the wheel of a build with HEED_PYTHON=ON, installs it into a new environment without a network, and runs the
# tests of this folder with it.
#   run.sh BUILD [PYTHON [NAME OF A TEST…]]
# HEED_NOTEBOOK=FILE also runs the cells of a notebook.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "$1")
python=${2:-python3}
tests=("${@:3}")
((${#tests[@]})) || tests=(test_heed test_texts)
folder=$(mktemp -d "${TMPDIR:-/tmp}/heed.XXXXXX")
trap 'rm -rf "$folder"' EXIT

rm -f "$build"/heed-*.whl
cmake --build "$build" --target wheel >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$python" -m venv --system-site-packages "$folder/venv" # for numpy
"$folder/venv/bin/pip" --disable-pip-version-check install --quiet --no-index --no-deps "$build"/heed-*.whl
cd "$folder"
"$folder/venv/bin/heed" --version | head -1
PYTHONPATH=$here "$folder/venv/bin/python" -W error -m unittest "${tests[@]}"
[[ ! ${HEED_NOTEBOOK-} ]] ||
  MPLBACKEND=agg "$folder/venv/bin/python" "$here/../../docs/notebook.py" --run "$HEED_NOTEBOOK"
