#!/usr/bin/env bash
# Installs a wheel into a new environment without a network, and runs the tests of this folder with it. Of a build with
# HEED_PYTHON=ON it builds the wheel first.
#   run.sh BUILD|WHEEL [PYTHON [NAME OF A TEST…]]
# HEED_NOTEBOOK=FILE also runs the cells of a notebook, which may take a minute.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
wheel=$(readlink -f "$1")
python=${2:-python3}
tests=("${@:3}")
((${#tests[@]})) || tests=(test_heed test_texts)
folder=$(mktemp -d "${TMPDIR:-/tmp}/heed.XXXXXX")
trap 'rm -rf "$folder"' EXIT

if [[ -d $wheel ]]; then
  rm -f "$wheel"/heed-*.whl
  cmake --build "$wheel" --target wheel >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  wheel=$(echo "$wheel"/heed-*.whl)
fi
"$python" -m venv --system-site-packages "$folder/venv" # for numpy
"$folder/venv/bin/pip" --disable-pip-version-check install --quiet --no-index --no-deps "$wheel"
cd "$folder"
"$folder/venv/bin/heed" --version | head -1
PYTHONPATH=$here "$folder/venv/bin/python" -W error -m unittest "${tests[@]}"
TIMEFORMAT='%R s'
[[ ! ${HEED_NOTEBOOK-} ]] ||
  time MPLBACKEND=agg timeout 60 "$folder/venv/bin/python" "$here/../../docs/notebook.py" --run "$HEED_NOTEBOOK"
