#!/usr/bin/env bash
# A sweep whose runs are started by Slurm, only on this host: the test starts munged, slurmctld and slurmd itself.
#
#   slurm.sh PROGRAM     needs root and Debian's slurm-wlm and munge
set -euo pipefail
program=$(readlink -f "$1")
for tool in munged slurmctld slurmd srun scontrol; do
  command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed (slurm-wlm, munge)"; exit; }
done
[[ $(id -u) == 0 ]] || { echo "skipped: slurmd needs root"; exit; }
source "$(dirname "$(readlink -f "$0")")/runs.sh"

daemons=()
stop_daemons() {
  local process
  for process in "${daemons[@]}"; do kill "$process" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap stop_daemons EXIT

# munged refuses folders that others may write to.
install -d -m 755 slurm munge
chmod 755 "$work"
dd if=/dev/urandom of=munge/key bs=1024 count=1 2>/dev/null
chmod 600 munge/key
munged --foreground --force --key-file "$work/munge/key" --socket "$work/munge/socket" --pid-file "$work/munge/pid" \
  --log-file "$work/munge/log" --seed-file "$work/munge/seed" >munge/out 2>&1 &
daemons+=($!)

host=$(hostname -s)
cores=$(nproc)
cat >slurm/slurm.conf <<CONF
ClusterName=heed
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$((20000 + RANDOM % 10000))
SlurmdPort=$((30000 + RANDOM % 10000))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
mkdir slurm/state slurm/spool
export SLURM_CONF=$work/slurm/slurm.conf
slurmctld -D >slurm/slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >slurm/slurmd.log 2>&1 &
daemons+=($!)
for _ in $(seq 60); do
  [[ $(sinfo -h -o %T 2>/dev/null) == idle ]] && break
  sleep 0.5
done
[[ $(sinfo -h -o %T 2>&1) == idle ]] || { tail -n 20 slurm/*.log munge/log >&2; fail "Slurm did not start"; }

options=(--config tiny.toml --axis optim.lr=1e-3,1e-2 --seeds 2 --jobs "$cores")
"$program" sweep "${options[@]}" --run local >out 2>err || { cat err >&2; fail "the sweep without Slurm failed"; }
"$program" sweep "${options[@]}" --run slurm_runs --launcher "srun -n1 --quiet" >out 2>err || { cat err >&2; fail "the sweep failed"; }
for run in local/*/seed-*; do
  same_run "$run" "slurm_runs/${run#local/}" >&2 || fail "$run differs"
done
jobs=$(scontrol show job | grep -c 'JobState=COMPLETED')
[[ $jobs == 4 ]] || fail "Slurm completed $jobs jobs instead of 4"

# Ctrl-C: the runs save and end.
"$program" sweep "${options[@]}" --run interrupted --set train.steps=10000000 --launcher "srun -n1" >out 2>err &
pid=$!
for _ in $(seq 400); do
  compgen -G 'interrupted/*/seed-*/checkpoints/latest' >/dev/null && break
  sleep 0.05
done
kill -INT $pid
code=0
wait $pid || code=$?
[[ $code == 130 ]] || { cat err >&2; fail "Ctrl-C: exit code $code"; }
grep -q 'interrupted and saved' interrupted/*/seed-1/train.log || { cat interrupted/*/seed-1/train.log >&2; fail "Ctrl-C: the runs did not save"; }
[[ -z $(squeue -h) ]] || sleep 2
[[ -z $(squeue -h) ]] || fail "Ctrl-C: jobs continue: $(squeue -h)"
echo "a sweep of 4 runs through srun: the same bits; Ctrl-C saves them"
