#!/usr/bin/env bash
# Kills (SIGKILL) the launcher at random times while it builds the program or the playground, by tools that only write files. The
# next call builds, its result is whole, and no lock is left.
#
#   kills.sh LAUNCHER [KILLS [SEED]]    KILLS: of each of the two
set -euo pipefail
launcher=$(readlink -f "$1") kills=${2:-20}
RANDOM=${3:-1}
unset HEED_BUILD HEED_WERROR OMPI_COMM_WORLD_RANK PMI_RANK
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(dirname "$launcher")
fail() { echo "launcher/kills: $*"; cat "$work/out"; ls -Al "$work/tree/build" || true; exit 1; }
mkdir -p "$work/tools" "$work/tree"/{core,nn,optim,data,apps/commands,lab,cmake,course/playground}
cd "$work/tree"
cp "$launcher" heed
cp "$root/cmake/packages.txt" cmake
cp "$root/course/playground/playground.sh" course/playground
touch CMakePresets.json CMakeLists.txt

# Tools that write their files piece by piece, as compilers do.
stub() {
  { echo '#!/usr/bin/env bash'; cat; } >"$work/tools/$1"
  chmod +x "$work/tools/$1"
}
stub dpkg-query <<<'for package in "${@:3}"; do printf "installed:%s " "$package"; done'
stub apt-get </dev/null
stub cmake <<END
sleep 0.02
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$work/tree" >>"\${*: -1}/CMakeCache.txt"
sleep 0.02
touch "\${*: -1}/build.ninja"
END
stub emcmake <<'END'
sleep 0.02
touch "$5/build.ninja"
END
stub ninja <<'END'
folder=$2
[[ $1 == -C ]] || folder=${*: -1}
folder=${folder%/index.html}
mkdir -p "$folder/bin"
for ((i = 0; i < 5; ++i)); do echo "$i" >>"$folder/.part"; sleep 0.02; done
printf '#!/bin/sh\necho built\n' >"$folder/.program"
chmod +x "$folder/.program"
rm "$folder/.part"
cp "$folder/.program" "$folder/bin/.heed" && mv "$folder/bin/.heed" "$folder/bin/heed"
cp "$folder/.program" "$folder/.index" && mv "$folder/.index" "$folder/index.html"
END
export PATH=$work/tools:$PATH

total=0
for what in report playground; do
  expected=built
  [[ $what == report ]] || expected=$work/tree/build/playground/index.html
  for ((killed = 0; killed < kills;)); do
    ((RANDOM % 3)) || rm -rf build
    ./heed $what >"$work/out" 2>&1 &
    pid=$!
    sleep "0.$(printf %03d $((RANDOM % 350)))"
    if kill -KILL $pid 2>/dev/null; then killed=$((killed + 1)); fi
    wait $pid 2>/dev/null || true
    # At once, while tools of the killed call may go on, and after their end, when what they leave is gone.
    for call in first second; do
      output=$(timeout 20 ./heed $what 2>"$work/out") || fail "$what: exit code $? of the $call call after $killed kills"
      [[ $output == *"$expected"* ]] || fail "$what: the $call call after $killed kills prints '$output'"
      while pgrep -f "$work/tools" >/dev/null; do sleep 0.01; done
      touch core  # newer than what was built
    done
    [[ -z $(find build -name '.building*') ]] || fail "$what: a lock is left after $killed kills"
  done
  total=$((total + killed))
done
echo "$total kills of the launcher: 0 builds lost, 0 locks left"
