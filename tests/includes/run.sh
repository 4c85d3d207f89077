#!/usr/bin/env bash
# The order of folders, and of rooms within apps, holds for every #include, and no file includes itself by way
# of others.
#
#   run.sh FOLDER    where the sources are
set -euo pipefail
cd "$1"

# What the files of a folder may include, besides its own. A folder that is not listed may be included nowhere.
libraries="core nn optim data"
trained="$libraries apps/support apps/config apps/inference apps/training"
lab="lab/claims lab/experiments lab/inspect lab/measure lab/onnx lab/report"
declare -A may_include=(
  [core]=""
  [nn]="core"
  [optim]="core"
  [data]="core"
  [apps/support]="core"
  [apps/config]="$libraries apps/support"
  [apps/ranks]="core apps/support"
  [apps/inference]="$libraries apps/support apps/config"
  [apps/training]="$libraries apps/support apps/config apps/inference"
  [apps/run]="$trained"
  [apps/cost]="$trained"
  [apps/minimal]="$libraries"
  [apps/commands]="$trained apps/cost"
  [apps]="$libraries apps/support apps/ranks apps/commands"
  [lab/claims]="$trained"
  [lab/onnx]="$libraries apps/support"
  [lab/inspect]="$trained lab/experiments"
  [lab/measure]="$trained apps/cost"
  [lab/experiments]="$trained apps/cost lab/measure"
  [lab/report]="$trained apps/cost lab/measure lab/experiments lab/inspect"
  [lab/commands]="$trained apps/cost apps/commands $lab"
  [course/playground]="$trained lab/inspect"
  [course/tutor]="$libraries apps/support apps/config lab/experiments"
  [course/commands]="$libraries apps/support apps/config apps/commands course/tutor"
  [course]="core apps/support course/tutor"
  [course/grader]="$libraries"
  [course/exercises]="$libraries course/grader"
)

# "apps/commands/train.cpp" → "apps/commands", "core/kernels/gemm/gemm.h" → "core"
folder_of() {
  case $1 in
    apps/*/* | lab/*/* | course/*/*) result=${1#*/} result=${1%%/*}/${result%%/*} ;;
    *) result=${1%%/*} ;;
  esac
}

# One line for each include of a file of the project: who includes, and what.
includes() {
  grep -rEo --include='*.h' --include='*.cpp' '^#include "[^"]+"' core nn optim data apps lab course |
    sed -E 's|:#include "([^"]+)"| \1|'
}

failed=0
while read -r file included; do
  folder_of "$file" && from=$result
  folder_of "$included" && to=$result
  [[ $from == "$to" || " ${may_include[$from]-} " == *" $to "* ]] && continue
  echo "$file includes $included, but $from may include only: ${may_include[$from]:-nothing}" >&2
  failed=1
done < <(includes)

# A header that is its own ancestor: tsort names the files of the circle.
if ! circle=$(includes | tsort 2>&1 >/dev/null); then
  printf 'files that include one another:\n%s\n' "$circle" >&2
  failed=1
fi
exit $failed
