#!/usr/bin/env bash
# slurm_agent.sh MPIEXEC: in an allocation, srun is the agent that leads to the allocation's node. The host of mpiexec has
# another name here, so that the node is another host for it.
set -u
node=$(hostname)
if [ $# = 1 ]; then
  unshare --uts true 2> /dev/null || { echo "slurm_agent.sh: skipped: no host name of its own is permitted here" >&2; exit 77; }
  exec unshare --uts "$0" "$1" "$node"
fi
mpiexec=$1 node=$2
hostname elsewhere
unset SLURMD_NODENAME
echo "job: $("$mpiexec" -launcher srun --host "$node" -n 2 sh -c 'test "$ASHLAR__RANK" = 0 && cat || echo output' <<< input |
  sort | tr '\n' ' ')" || exit 1
"$mpiexec" -launcher srun --check --host "$node,elsewhere" sh
