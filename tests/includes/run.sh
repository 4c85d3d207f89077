#!/usr/bin/env bash
# The order of folders, and of rooms within apps, holds for every #include, and no file includes itself by way
# of others.
#
#   run.sh FOLDER    where the sources are
set -euo pipefail
cd "$1"

# What the files of a folder may include, besides its own. A folder that is not listed may be included nowhere.
libraries="core nn optim data"
declare -A may_include=(
  [core]=""
  [nn]="core"
  [optim]="core"
  [data]="core"
  [theorems]="$libraries"
  [apps/support]="core"
  [apps/config]="$libraries apps/support"
  [apps/ranks]="core apps/support"
  [apps/inference]="$libraries apps/support apps/config"
  [apps/training]="$libraries apps/support apps/config apps/inference"
  [apps/run]="$libraries apps/support apps/config apps/inference apps/training"
  [apps/playground]="$libraries apps/support apps/config apps/inference apps/training"
  [apps/onnx]="$libraries apps/support"
  [apps/measure]="$libraries apps/support apps/config apps/inference apps/training"
  [apps/experiments]="$libraries apps/support apps/config apps/inference apps/training apps/measure"
  [apps/report]="$libraries apps/support apps/config apps/inference apps/training apps/measure apps/experiments"
  [apps/course]="$libraries apps/support apps/config apps/experiments"
  [apps/commands]="$libraries theorems apps/support apps/config apps/inference apps/training apps/measure apps/experiments apps/report apps/onnx apps/course"
  [apps]="$libraries apps/support apps/ranks apps/commands"
)

# "apps/commands/train.cpp" → "apps/commands", "core/kernels/gemm/gemm.h" → "core"
folder_of() {
  case $1 in
    apps/*/*) result=${1#apps/} result=apps/${result%%/*} ;;
    *) result=${1%%/*} ;;
  esac
}

# One line for each include of a file of the project: who includes, and what.
includes() {
  grep -rEo --include='*.h' --include='*.cpp' '^#include "[^"]+"' core nn optim data theorems apps |
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
