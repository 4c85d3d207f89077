#!/usr/bin/env bash
# Kills (SIGKILL) sweeps, heed pack and heed view at random times. The next call ends as an undisturbed one: a sweep with the
# same bits, an archive with the same files, a served page; and no file is left that it does not have. kills.sh kills
# trainings, ranks.sh processes of a training, and tests/launcher/kills.sh builds.
#
#   kills_of_commands.sh PROGRAM [KILLS [SEED]]    KILLS: of each command
set -euo pipefail
program=$(readlink -f "$1")
kills=${2:-10}
RANDOM=${3:-1}
source "$(dirname "$(readlink -f "$0")")/runs.sh"

milliseconds() { echo "${EPOCHREALTIME/./}" | sed 's/...$//'; }
# The names of all files, and the contents of those that no training changes.
listed() { find "$1" -printf '%P\n' | LC_ALL=C sort; }

# killed NAME COMMAND…: runs a command and kills it at a random moment of what it takes (duration), until a call ends. Calls
# after_kill after each kill.
declare -A killed
duration=0
killed() {
  local name=$1 status=137 pid time
  shift
  while ((status == 137)); do
    "$@" >out 2>&1 &
    pid=$!
    time=$(((RANDOM * 32768 + RANDOM) % duration))
    sleep "$((time / 1000)).$(printf %03d $((time % 1000)))"
    kill -KILL "$pid" 2>/dev/null || true
    status=0
    wait "$pid" 2>/dev/null || status=$?
    [[ $status == 0 || $status == 137 ]] || { cat out >&2; fail "$name: exit code $status after a kill"; }
    ((status == 0)) || { killed[$name]=$((${killed[$name]:-0} + 1)); after_kill; }
  done
}
timed() {
  local start
  start=$(milliseconds)
  "$@" >out 2>&1 || { cat out >&2; fail "$*: failed without a kill"; }
  duration=$(($(milliseconds) - start + 50))
}

# The runs of a killed sweep end with it.
after_kill() {
  for ((i = 0; i < 1000; ++i)); do
    pgrep -f "^$program train .*$work/|^$program train .*killed-sweep" >/dev/null || return 0
    sleep 0.01
  done
  fail "sweep: a run trains on after its sweep was killed"
}
timed "$program" sweep grid.toml --run sweep --jobs 2
while ((${killed[sweep]:-0} < kills)); do
  rm -rf killed-sweep
  killed sweep "$program" sweep grid.toml --run killed-sweep --jobs 2
  same_sweep sweep killed-sweep >&2 || fail "sweep: differs after ${killed[sweep]} kills"
  diff <(listed sweep) <(listed killed-sweep) >&2 || fail "sweep: other files after ${killed[sweep]} kills"
done

# An archive is there whole, or not at all. It has the times of its files, so the contents are compared.
unpacked() { rm -rf "$1/runs" && tar -xzf "$1/runs.tgz" -C "$1" && diff -r whole/runs "$1/runs" >&2 && rm -r "$1/runs"; }
after_kill() {
  [[ -e killed/runs.tgz ]] || return 0
  unpacked killed || fail "pack: a kill leaves a part of an archive"
  rm killed/runs.tgz
}
mkdir whole killed
timed "$program" pack sweep --output whole/runs.tgz
tar -xzf whole/runs.tgz -C whole
listed sweep >before
while ((${killed[pack]:-0} < kills)); do
  rm -f killed/runs.tgz
  killed pack "$program" pack sweep --output killed/runs.tgz
  unpacked killed || fail "pack: differs after ${killed[pack]} kills"
  diff before <(listed sweep) >&2 || fail "pack: changes the sweep"
  [[ $(ls -A killed) == runs.tgz ]] || fail "pack: leaves $(ls -A killed)"
done

# A server writes nothing, and its port is free again.
after_kill() { :; }
find sweep -type f -exec cksum {} + | sort >before
port=$((20000 + RANDOM % 10000)) duration=300
while ((${killed[view]:-0} < kills)); do
  "$program" view sweep --port $port >out 2>&1 &
  pid=$!
  sleep "0.$(printf %03d $((RANDOM % duration)))"
  kill -KILL $pid
  wait $pid 2>/dev/null || true
  killed[view]=$((${killed[view]:-0} + 1))
done
"$program" view sweep --port $port >served 2>&1 &
pid=$!
for ((i = 0; i < 400; ++i)); do [[ ! -s served ]] || break; sleep 0.05; done
kill -INT $pid
wait $pid || { cat served >&2; fail "view: does not start after ${killed[view]} kills"; }
diff before <(find sweep -type f -exec cksum {} + | sort) >&2 || fail "view: changes a file"

for name in sweep pack view; do printf '%d kills of heed %s; ' "${killed[$name]}" $name; done
echo "0 lost, 0 different, 0 files left"
