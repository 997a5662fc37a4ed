#!/usr/bin/env bash
# Runs a program under a Slurm of its own: slurm.sh [-n RANKS] [--mpi TYPE] PROGRAM [arguments]
# Sets up munge, slurmctld and slurmd from Debian's slurm-wlm for this machine alone, in a private folder and on the
# loopback interface, runs `srun --mpi=TYPE -n RANKS PROGRAM` (4 and pmix unless given), and takes everything down again.
# Exit status: srun's; 77 with a reason when Slurm cannot be set up here.
set -u
ranks=4
type=pmix
while :; do
  case "${1-}" in
    -n) ranks=$2; shift 2 ;;
    --mpi) type=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { echo "usage: $0 [-n RANKS] [--mpi TYPE] PROGRAM [arguments]" >&2; exit 2; }

skip() { echo "slurm.sh: skipped: $1" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can start slurmd"
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun sinfo; do
  command -v $tool > /dev/null || skip "$tool is not installed (Debian: apt-get install slurm-wlm munge)"
done
plugin=$(ls /usr/lib/*/slurm-wlm/mpi_pmix.so /usr/lib/*/slurm/mpi_pmix.so /usr/lib64/slurm/mpi_pmix.so 2> /dev/null | head -1)
[ -n "$plugin" ] || skip "this Slurm has no PMIx plug-in"
# The plug-in opens "libpmix.so", a name that only the development package has.
ldconfig -p | grep -q 'libpmix\.so ' || [ -e "${plugin%/*/*}/libpmix.so" ] || skip "Slurm's PMIx plug-in needs libpmix.so (Debian: libpmix-dev)"

dir=$(mktemp -d /tmp/ashlar-slurm-XXXXXX)
chmod 755 "$dir"
daemons=()
finish() {
  status=$?
  trap - EXIT
  # A failed set-up is explained by its logs.
  if [ $status = 77 ] && [ -n "${SLURM_TEST_VERBOSE-}" ]; then tail -n 20 "$dir"/*.log >&2; fi
  # slurmd before slurmctld before munged, so that each can still say goodbye.
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    pid=${daemons[i]}
    kill "$pid" 2> /dev/null
    for _ in $(seq 50); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2> /dev/null
  done
  wait 2> /dev/null
  # A step's daemon that hangs is no child of ours; it carries our configuration in its environment.
  for pid in $(pgrep -x slurmstepd); do
    { tr '\0' '\n' < "/proc/$pid/environ" | grep -qx "SLURM_CONF=$dir/slurm.conf" && kill -9 "$pid"; } 2> /dev/null
  done
  rm -rf "$dir"
  exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
node=$(hostname -s 2> /dev/null || uname -n)
node=${node%%.*}
mkdir "$dir/state" "$dir/spool"
(umask 077; head -c 128 /dev/urandom > "$dir/munge.key")
munged -F --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
  --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" > "$dir/munged.log" 2>&1 &
daemons+=($!)

cat > "$dir/slurm.conf" << CONF
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SlurmdLogFile=$dir/steps.log
SlurmdDebug=${SLURM_TEST_DEBUG:-info}
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
PluginDir=${plugin%/*}
PlugStackConfig=/dev/null
NodeName=$node NodeAddr=127.0.0.1 CPUs=64 RealMemory=512 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
: > "$dir/cgroup.conf"
# Without this the plug-in leaves folders in /tmp, and the next job of the same number fails on them.
echo "PMIxCliTmpDirBase=$dir" > "$dir/mpi.conf"
export SLURM_CONF=$dir/slurm.conf
slurmctld -D -i -f "$SLURM_CONF" > "$dir/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" > "$dir/slurmd.log" 2>&1 &
daemons+=($!)
SECONDS=0
while [ $SECONDS -lt 30 ]; do
  state=$(timeout 5 sinfo -h -o %T 2> /dev/null)
  [ "$state" = idle ] && break
  for pid in "${daemons[@]}"; do
    kill -0 "$pid" 2> /dev/null || { SLURM_TEST_VERBOSE=1; skip "a Slurm daemon ended at once (its log is above)"; }
  done
  sleep 0.1
done
[ "$state" = idle ] || { SLURM_TEST_VERBOSE=1; skip "the node did not become idle within 30 s (state: $state)"; }
setup=$SECONDS
timeout 10 srun --mpi=list 2>&1 | grep -q pmix || skip "srun --mpi=list has no pmix"

timeout 60 srun --mpi="$type" -n "$ranks" --chdir="$PWD" "$@" < /dev/null
status=$?
if [ $status = 124 ]; then
  echo "slurm.sh: srun has not ended within 60 s; set up in ${setup}s; what the daemons say:" >&2
  squeue >&2
  tail -n 20 "$dir"/*.log >&2
fi
# The step's daemon must report to the controller before that is taken down.
for _ in $(seq 100); do
  [ -z "$(timeout 5 squeue -h 2> /dev/null)" ] && [ "$(timeout 5 sinfo -h -o %T 2> /dev/null)" = idle ] && break
  sleep 0.1
done
exit $status
