#!/usr/bin/env bash
# A program built for another processor says so, once, and exits with 1 before anything else.
#   run.sh PROGRAM
output=$("$1" 2>&1)
code=$?
expected="heed: built for a processor with avx512er, which this one lacks: \
delete the build folder and build again on this machine"
[[ $code == 1 && $output == "$expected" ]] || { printf 'exit code %s\n%s\n' "$code" "$output"; exit 1; }
