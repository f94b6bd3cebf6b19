#!/bin/bash
# A Ray cluster in a Slurm allocation, and a felt command on it:
#   sbatch --nodes 8 --cpus-per-task 64 docs/cluster/slurm.sh exploit default --resume default-values
#SBATCH --job-name=felt
#SBATCH --ntasks-per-node=1
#SBATCH --nodes=2
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
set -euo pipefail
export RAY_USAGE_STATS_ENABLED=0
port=6379
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | awk '{print $1}'):$port

srun --nodes=1 --ntasks=1 --nodelist="$head" \
    ray start --head --port="$port" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
for attempt in $(seq 60); do
    if (: < "/dev/tcp/${address%:*}/$port") 2> /dev/null; then break; fi
    sleep 1
done
for node in "${nodes[@]:1}"; do
    srun --nodes=1 --ntasks=1 --nodelist="$node" \
        ray start --address="$address" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
done
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" felt "$@" --on "$address"
