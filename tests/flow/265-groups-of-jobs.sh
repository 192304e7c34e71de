#!/bin/sh
# Control groups of jobs: containers that restart under their names, jobs of
# Slurm that are named by SLUID, groups and processes that are not sampled.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HOST=$TMP/proc CGROUPS=$TMP/cgroup
slurm=$CGROUPS/system.slice/slurmstepd.scope
# group PATH USAGE [PID]
group() {
	mkdir -p "$1"
	printf 'usage_usec %d\nuser_usec %d\nsystem_usec 0\n' "$2" "$2" >"$1/cpu.stat"
	echo 4096 >"$1/memory.current"
	echo "${3:-}" >"$1/cgroup.procs"
}
# process PID: its 15th to 17th columns are 1 s of processor time, 1 thread.
process() {
	mkdir -p "$HOST/$1"
	echo "$1 (work) S 1 1 1 0 -1 0 0 0 0 0 100 0 0 0 20 0 1 0 9 0 704 0 0" >"$HOST/$1/stat"
}
values() { # GROUP METRIC
	poolscope-dump -q -p "$pool" --kind sample --name "$1" --format long | /usr/bin/python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if r["metric"] == sys.argv[1]:
        print(r["value"])' "$2"
}
agent() {
	rm -rf "$DIR/spool" "$TMP/agent.log"
	start agent poolscope-agent -p "$pool" -n n1 --no-clock --proc "$HOST" --cgroup-root "$CGROUPS" --period 200ms \
		--send-interval 100ms --metric-groups cgroup,process=200ms "$@"
}

mkdir -p "$HOST"
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

# ---- restarted
pool='a$restarted'
docker=$CGROUPS/system.slice/docker-1.scope
group "$docker" 5000000
agent
check "the container is sampled" wait_until 'values "cgroup/*" container.cpu.time | grep -qx 5000000' 30
rm -r "$docker"
group "$docker" 1000
echo 8192 >"$docker/memory.peak"
check "so is the one that follows" wait_until 'values "cgroup/*" container.cpu.time | grep -qx 1000' 30
check "with what it has and the first one had not" wait_until 'values "cgroup/*" container.memory.peak | grep -qx 8192' 30
check_text "and from then on nothing of the first one" "5000000 1000" \
	"$(values 'cgroup/*' container.cpu.time | uniq | tr '\n' ' ' | sed 's/ $//')"
stop agent
rm -r "$docker"

# ---- Slurm
pool='a$slurm'
group "$slurm/job_17" 1
group "$slurm/sAJ3Z8QV4XY0C0" 2
group "$slurm/sAJ3Z8QV4XY0C0/step_0/user/task_0" 2 71
group "$slurm/system" 3
process 71
printf 'PATH=/bin\0SLURM_JOB_ID=4711\0HOME=/\0' >"$HOST/71/environ"
agent
check "the job whose group is a SLUID has its id" wait_until \
	'values cgroup/system.slice/slurmstepd.scope/job_4711 container.cpu.time | grep -qx 2' 30
check "the one that is named by its id, too" wait_until \
	'values cgroup/system.slice/slurmstepd.scope/job_17 container.cpu.time | grep -qx 1' 30
check "and so are commands" wait_until 'values process/work process.count | grep -qx 1' 30
stop agent
check_text "nothing is left out" "" "$(grep 'not sampled' "$TMP/agent.log")"

# ---- what is not sampled
pool='a$left'
rm -r "$HOST/71"
agent --cgroups 'system.slice/slurmstepd.scope/task_*,system.slice/slurmstepd.scope/job_*'
check "a job is sampled" wait_until '[ "$(values "cgroup/*" container.cpu.time | wc -l)" -ge 5 ]' 30
stop agent
check_text "its neighbour is not, which the log says once" 1 \
	"$(grep -c '1 control groups are not sampled, as system.slice/slurmstepd.scope/sAJ3Z8QV4XY0C0' "$TMP/agent.log")"
rm -r "$slurm/job_17"
group "$slurm" 9
echo 71 >"$slurm/sAJ3Z8QV4XY0C0/cgroup.procs"
pool='a$none'
agent --cgroups 'system.slice/slurmstepd.scope/job_*,system.slice/*.scope'
check "the scheduler's own group is sampled" wait_until '[ "$(values "cgroup/*" container.cpu.time | wc -l)" -ge 5 ]' 30
stop agent
check_text "its jobs are not, which the log says once" 1 \
	"$(grep -c '1 control groups are not sampled, as system.slice/slurmstepd.scope/sAJ3Z8QV4XY0C0' "$TMP/agent.log")"
check_text "and that no process can be seen" 1 "$(grep -c 'processes of jobs are not sampled: .*hidepid' "$TMP/agent.log")"

# ---- many
pool='a$many'
i=0
while [ $i -lt 60 ]; do
	group "$CGROUPS/docker/c$i" $i $((1000 + i))
	i=$((i + 1))
done
# 10,000 processes, 70 KiB.
seq 100000 109999 >"$CGROUPS/docker/c0/cgroup.procs"
process 109999
agent --cgroups 'docker/*'
check "60 containers are sampled" wait_until '[ "$(poolscope-dump -q -p "$pool" --kind sample --name "cgroup/docker/*" --format wide |
	cut -d, -f4 | sed 1d | sort -u | wc -l)" -eq 60 ]' 30
check "and the last process of a long list" wait_until 'values process/work process.count | grep -qx 1' 30
stop agent
