#!/usr/bin/env bash
# The grader of an exercise runs wrong answers beside the learner's. They must compute the same in a program that replaces
# the library's function by the learner's as in one that does not.
#   replaced.sh PROGRAM REPLACED…    PROGRAM has the library's functions, replaced_NAME that of the exercise NAME
set -euo pipefail
program=$1
shift
failed=0
for replaced; do
  name=${replaced##*/replaced_}
  name=${name//-/_}
  if ! diff <("$program" mistakes "$name") <("$replaced" mistakes "$name"); then
    echo "$name: a wrong answer calls the function that it stands for" >&2
    failed=1
  fi
done
exit $failed
