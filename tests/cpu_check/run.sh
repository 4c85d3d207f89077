#!/usr/bin/env bash
# A program built for another processor says so, once, and exits with 1 before anything else.
#   run.sh PROGRAM
output=$("$1" 2>&1)
code=$?
expected="heed: built for a processor with avx512er, which this one lacks: \
build heed anew on this machine, in an empty folder"
[[ $code == 1 && $output == "$expected" ]] || { printf 'exit code %s\n%s\n' "$code" "$output"; exit 1; }
