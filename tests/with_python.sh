#!/bin/sh
# Runs a script with its arguments, or says that it is skipped where there is no Python.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit; }
exec "$@"
