#!/usr/bin/env bash
# Training on two hosts, which are network namespaces with names, addresses and a cable of their own: with a host file, the
# bits of one process, for every MPI that is installed and built. Then over a slow cable, for which it prints the seconds
# of 40 steps that the cost model of docs/scaling.md predicts, and those measured. Needs root.
#
#   hosts.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
tests=$(dirname "$(readlink -f "$0")")
source "$tests/mpi.sh"
if ! ip netns add heed-probe 2>/dev/null; then
  echo "skipped: no network namespaces (ip of Debian's iproute2, as root)"
  exit 0
fi
ip netns del heed-probe
source "$tests/runs.sh"

a=heed-$$-a b=heed-$$-b
trap 'ip netns del $a; ip netns del $b; rm -rf "$work"' EXIT
ip netns add $a
ip netns add $b
ip link add name cable netns $a type veth peer name cable netns $b
ip -n $a addr add 10.99.0.1/24 dev cable
ip -n $b addr add 10.99.0.2/24 dev cable
for host in $a $b; do
  ip -n $host link set dev lo up
  ip -n $host link set dev cable up
done
for host in $a $b; do
  until [[ $(ip netns exec $host cat /sys/class/net/cable/operstate) == up ]]; do sleep 0.1; done
done

# enter ADDRESS COMMAND…: in place of ssh.
cat >enter <<SH
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
[[ \$1 == 10.99.0.1 ]] && host=$a || host=$b
shift
exec ip netns exec \$host unshare -u bash -c "hostname \$host; cd '$work'; \$*"
SH
chmod +x enter
printf '%s slots=1\n' 10.99.0.1 10.99.0.2 >openmpi.hosts
printf '%s:1\n' 10.99.0.1 10.99.0.2 >mpich.hosts
# The hosts have one set of cores and one memory: Open MPI must not bind both processes to the same core, and MPICH's UCX
# must not find out.
export UCX_TLS=tcp,self
declare -A launch=(
  [openmpi]="mpirun.openmpi --bind-to none --hostfile openmpi.hosts --mca plm_rsh_agent $work/enter"
  [mpich]="mpirun.mpich -f mpich.hosts -launcher rsh -launcher-exec $work/enter")
on_hosts() { timeout -k 5 300 ./enter 10.99.0.1 "${launch[$1]} -n 2 $program ${*:2}" >out 2>&1 || { cat out >&2; fail "$*"; }; }

cat >config.toml <<'TOML'
base = "tiny.toml"
threads = 1
[train]
shards = 2
batch_size = 16
evaluate_every = 40
checkpoint_every = 40
[model]
dim = 64
layers = 2
TOML
"$program" train config.toml --run one >out 2>&1 || { cat out >&2; fail "one process"; }
for mpi in "${found[@]}"; do
  on_hosts "$mpi" train config.toml --run "$mpi"
  same_run one "$mpi" >&2 || fail "$mpi: two hosts differ from one process"
done

# A host vanishes: its cable is cut. The process of the other host ends and names the lost one; then the run resumes.
in_namespace() { ip netns pids "$1" | xargs -r -I{} sh -c 'grep -qs heed /proc/{}/comm && echo {}'; }
for mpi in "${found[@]}"; do
  options=(config.toml --run "$mpi-cut" --set train.checkpoint_every=5 --set train.rank_timeout=3)
  timeout -k 5 120 ./enter 10.99.0.1 "${launch[$mpi]} -n 2 $program train ${options[*]} --set train.steps=1000000" >cut 2>&1 &
  job=$!
  until [[ $(newest "$mpi-cut") ]]; do sleep 0.1; done
  ip -n $b link set dev cable down
  for ((waited = 0; waited < 600; ++waited)); do [[ $(in_namespace $a) ]] || break; sleep 0.1; done
  [[ -z $(in_namespace $a) ]] || fail "$mpi: the process of the other host still waits"
  grep -q 'process 1 of 2 gave no sign of life for 3 s' cut || { cat cut >&2; fail "$mpi: the lost process is not named"; }
  { ip netns pids $a; ip netns pids $b; } | xargs -r kill -9
  wait $job || true
  ip -n $b link set dev cable up
  until [[ $(ip netns exec $b cat /sys/class/net/cable/operstate) == up ]]; do sleep 0.1; done
  last=$(newest "$mpi-cut")
  "$program" train "${options[@]}" --set train.steps=1000000 --resume --until $((last + 5)) >out 2>&1 ||
    { cat out >&2; fail "$mpi: does not resume after a host has vanished"; }
  [[ $(newest "$mpi-cut") == "$((last + 5))" ]] || fail "$mpi: step $(newest "$mpi-cut") instead of $((last + 5))"
done

bytes=$((8 / 2 * $(sed -nE 's/.*model: ([0-9,]+) parameters.*/\1/p' out | tr -d ,)))
echo "| rate | predicted, s | measured, s |"
echo "| --- | --- | --- |"
seconds() { awk 'BEGIN { printf "%.1f", '"$1"' }'; }
fast=""
for rate in "" 100 50 20; do
  if [[ $rate ]]; then
    for host in $a $b; do
      ip netns exec $host tc qdisc replace dev cable root tbf rate "${rate}mbit" burst 256kb latency 2s
    done
  fi
  rm -rf slow
  start=${EPOCHREALTIME/./}
  on_hosts "${found[0]}" train config.toml --run slow
  took="(${EPOCHREALTIME/./} - $start) / 1e6"
  same_run one slow >&2 || fail "$rate Mbit/s: two hosts differ from one process"
  if [[ $rate ]]; then
    echo "| $rate Mbit/s | $(seconds "$fast + 40 * $bytes / ($rate * 1e6 / 8)") | $(seconds "$took") |"
  else
    fast=$took
  fi
done
echo "two hosts have the bits of one process, at full speed and at 100, 50 and 20 Mbit/s"
