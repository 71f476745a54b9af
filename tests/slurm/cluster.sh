#!/usr/bin/env bash
# usage: cluster.sh up FOLDER | cluster.sh down FOLDER | cluster.sh start-node FOLDER NAME
#
# A real Slurm on this machine for tests: munged, slurmctld and one slurmd per emulated node, on
# loopback, without systemd. FOLDER holds all of it: settings, state, logs, sockets. Afterwards
# SLURM_CONF=FOLDER/slurm.conf lets every Slurm program find it.
#
#   CLUSTER_NODES (2)  CLUSTER_CPUS (2)  CLUSTER_PORT (18817)  CLUSTER_EXTRA (): lines for slurm.conf
#
# Needs root and Debian's slurm-wlm and munge; `bash tests/run.sh` installs them.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin

fail() { printf 'error: %s\n' "$1" >&2; exit 69; }
[ $# -ge 2 ] || fail "usage: cluster.sh up|down|start-node FOLDER"
action=$1
folder=$(realpath -m "$2")
nodes=${CLUSTER_NODES:-2}
cpus=${CLUSTER_CPUS:-2}
port=${CLUSTER_PORT:-18817}
export SLURM_CONF=$folder/slurm.conf

# A daemon outlives this script and holds none of its files.
daemon() { ALMANAC_TEST_CLUSTER=$folder "$@" </dev/null >>"$folder/log/start.log" 2>&1 8>&- 9>&-; }

# Waits up to 30 s for a command to succeed.
await() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    tail -n 20 "$folder"/log/*.log >&2
    fail "waited too long for: $*"
}

# The process in a pid file, if it is still the daemon that was started for this folder.
process_of() {
    local process
    process=$(cat "$1" 2>/dev/null) && [ -n "$process" ] || return 1
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qxF "ALMANAC_TEST_CLUSTER=$folder" || return 1
    printf '%s' "$process"
}

settings() {
    local names=n1 ports=$((port + 1)) memory
    if [ "$nodes" -gt 1 ]; then names="n[1-$nodes]" ports="[$((port + 1))-$((port + nodes))]"; fi
    memory=$(awk '/^MemTotal:/ {print int($2 / 1024 * 0.8)}' /proc/meminfo)
    cat <<END
ClusterName=almanactest
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SrunPortRange=$((port + 100))-$((port + 199))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_continue
PriorityType=priority/basic
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
KillWait=5
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
EnforcePartLimits=ALL
NodeName=$names NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$ports CPUs=$cpus Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=$memory Gres=gpu:a100:1 State=UNKNOWN
PartitionName=all Nodes=$names Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=$names MaxTime=INFINITE State=UP PriorityTier=2
PartitionName=closed Nodes=$names MaxTime=INFINITE State=UP AllowGroups=nobody-is-in-this-group
END
    printf '%s\n' "${CLUSTER_EXTRA:-}"
}

# A GPU for each node in name. Slurm gives a job CUDA_VISIBLE_DEVICES for character devices only.
gpus() {
    local node device
    for ((node = 1; node <= nodes; node++)); do
        device=$folder/gpu-n$node
        mknod -m 666 "$device" c 1 3 2>/dev/null || device=/dev/null
        printf 'NodeName=n%d Name=gpu Type=a100 File=%s Flags=nvidia_gpu_env\n' "$node" "$device"
    done
}

start_node() { process_of "$folder/slurmd-$1.pid" >/dev/null || daemon slurmd -f "$SLURM_CONF" -N "$1"; }

nodes_are_up() { [ "$(sinfo -h -N -p all -o %t | grep -cxE 'idle|mix|alloc|comp')" = "$nodes" ]; }

up() {
    local program node
    [ "$(id -u)" -eq 0 ] || fail "the daemons of a test cluster need root"
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || fail "$program is not installed; run: bash tests/run.sh"
    done
    # Paths of unix sockets are short.
    [ "${#folder}" -le 80 ] || fail "$folder is too long a path for the sockets of a test cluster"
    mkdir -p "$folder"/{log,state,munge}
    chmod 755 "$folder"
    chmod 700 "$folder/munge"
    settings >"$folder/slurm.conf"
    gpus >"$folder/gres.conf"
    # slurmd wants a cgroup plugin even where it tracks processes without; this one needs no cgroups.
    printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$folder/cgroup.conf"
    (umask 077 && head -c 1024 /dev/urandom >"$folder/munge/key")
    daemon munged --force --key-file="$folder/munge/key" --socket="$folder/munge.socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/log/munged.log" --seed-file="$folder/munge/seed"
    daemon slurmctld -f "$SLURM_CONF"
    # A slurmd that finds no controller ignores SIGTERM.
    await scontrol ping
    for ((node = 1; node <= nodes; node++)); do
        mkdir -p "$folder/spool-n$node"
        start_node "n$node"
    done
    await nodes_are_up
}

# stop PIDFILE: TERM, and KILL when that is ignored.
stop() {
    local process tries
    process=$(process_of "$1") || return 0
    kill -TERM "$process" 2>/dev/null || return 0
    for ((tries = 0; tries < 50; tries++)); do
        kill -0 "$process" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$process" 2>/dev/null || true
}

down() {
    local file tries
    # Jobs outlive the daemons.
    if process_of "$folder/slurmctld.pid" >/dev/null; then
        timeout 20 scancel --user=root 2>/dev/null || true
        for ((tries = 0; tries < 100; tries++)); do
            [ -n "$(timeout 20 squeue -h 2>/dev/null || true)" ] || break
            sleep 0.1
        done
    fi
    for file in "$folder"/slurmd-*.pid "$folder/slurmctld.pid" "$folder/munged.pid"; do stop "$file"; done
}

case $action in
up) up ;;
down) down ;;
start-node) start_node "$3" ;;
*) fail "no such action: $action" ;;
esac
