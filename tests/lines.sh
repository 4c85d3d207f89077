#!/usr/bin/env bash
# Counts the lines of the code by room: .cpp and .h, and apart from them JavaScript, CSS and HTML. Only files that git
# knows. Left out: tests, exercises with their graders and solutions, figures and drawings.
#   lines.sh [REVISION]    default: HEAD
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
revision=${1:-HEAD}

git ls-tree -r --name-only "$revision" | awk '
  /^(tests|bench|examples|packaging)\// || /\/(exercises|figures|drawings)\// { next }
  # Where the rooms were in earlier versions.
  function room(path) {
    if (path ~ /^(apps\/(experiments|report|onnx)|theorems)\// || path ~ /^apps\/measure\/(benchmark|profile|rates|trace)\./) return "lab"
    if (path ~ /^apps\/commands\/(bench|compare|export|profile|report|sweep|theorems|view)\.cpp$/) return "lab"
    if (path ~ /^(apps\/(course|playground)|docs\/course)\// || path ~ /^apps\/commands\/course/) return "course"
    if (path == "heed.h") return path
    sub(/\/.*/, "", path)
    return path
  }
  /\.(cpp|h)$/ { print room($0), "code", $0 }
  /\.(js|cjs|css|html)$/ { print room($0), "page", $0 }' |
  while read -r room kind file; do
    echo "$room $kind $(git show "$revision:$file" | wc -l)"
  done | awk '
  { lines[$1, $2] += $3; sum[$2] += $3; rooms[$1] }
  function row(room) { printf "%-10s %10d %22d\n", room, lines[room, "code"], lines[room, "page"]; delete rooms[room] }
  END {
    printf "%-10s %10s %22s\n", "room", ".cpp, .h", "JavaScript, CSS, HTML"
    n = split("core nn optim data apps heed.h lab course", order, " ")
    for (i = 1; i <= n; ++i) {
      row(order[i])
      if (i <= 6) framework += lines[order[i], "code"]
    }
    for (other in rooms) row(other)
    printf "%-10s %10d\n%-10s %10d %22d\n", "framework", framework, "all", sum["code"], sum["page"]
  }'
