# What stands under deploy/ for Slurm, Azure Batch, Kubernetes and for bash is
# run as they would.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are for awk, for sh -c, and parts of names
. "$(dirname "$0")/lib.sh"

deploy=${ROOT:?}/deploy
check "an instance" start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

events() {
	poolscope-dump -p 'kiel$gpu' --format jsonl --name "$1" 2>/dev/null
}

# ---- Slurm: a job, one of an array, and none
slurm() {
	env PATH="$PATH" POOLSCOPE_DIR="$DIR" "$@"
}
job() {
	slurm SLURM_JOB_ID=4711 SLURM_JOB_USER=ada SLURM_JOB_PARTITION=gpu SLURM_CLUSTER_NAME=kiel \
		SLURM_JOB_NODELIST='n[1-3]' "$@"
}
check "without an agent the prolog ends with 0" job "$deploy/slurm/prolog"
check "the agent takes what waits" start agent poolscope-agent -p 'kiel$gpu' -n n1 --no-samples
check "the epilog ends with 0" job SLURM_JOB_EXIT_CODE=7 "$deploy/slurm/epilog"
check "an element of an array begins" slurm SLURM_JOB_ID=4713 SLURM_ARRAY_JOB_ID=4712 SLURM_ARRAY_TASK_ID=3 \
	SLURM_JOB_USER='a`id`$(id);"x' "$deploy/slurm/prolog"
check "outside of a job nothing happens" env -u SLURM_JOB_ID POOLSCOPE_DIR="$DIR" "$deploy/slurm/prolog"
check "without the programs it ends with 0" env -i PATH=/usr/bin:/bin SLURM_JOB_ID=1 "$deploy/slurm/prolog"
mkdir "$TMP/full"
printf '#!/bin/sh\nexit 75\n' >"$TMP/full/poolscope-emit" # the spool is full
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$TMP/syslog" >"$TMP/full/logger"
chmod +x "$TMP/full/poolscope-emit" "$TMP/full/logger"
check "an event that is refused does not fail the job" job PATH="$TMP/full:$PATH" "$deploy/slurm/prolog"
check_text "... and is reported" "-t poolscope job 4711: event 'start' was not emitted (poolscope-emit exited with 75)" \
	"$(cat "$TMP/syslog")"
poolscope-emit last one --wait stored >/dev/null
check "all of it is stored" wait_until '[ "$(events "job:*" | wc -l)" -eq 3 ]' 30
events 'job:*' >"$TMP/jobs"
check_text "with the attributes of Slurm" \
	'start 4711 ada gpu kiel n[1-3] None|start 4712_3 a`id`$(id);"x None None None None|stop 4711 ada gpu kiel n[1-3] 7' \
	"$(python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
def row(r):
    a = r.get("attributes") or r.get("attrs") or {}
    return " ".join(str(x) for x in [r["name"].split(":")[-1]] +
                    [a.get(k) for k in ("job", "user", "queue", "cluster", "nodes", "exit")])
print("|".join(sorted(row(r) for r in rows)))' "$TMP/jobs")"

# ---- Azure Batch: a node that starts, and boots again
stop agent
node=$TMP/node
mkdir -p "$node/shared" "$node/task"
batch() {
	(cd "$node/task" && env AZ_BATCH_ACCOUNT_NAME=acct AZ_BATCH_POOL_ID=pool AZ_BATCH_NODE_ID=tvm-1 \
		AZ_BATCH_NODE_SHARED_DIR="$node/shared" "$@")
}
trap 'kill "$(cat "$node/shared/poolscope/run/agent.pid" 2>/dev/null)" 2>/dev/null; _end' EXIT
check_status 1 "without a broker the start task fails" batch sh "$deploy/azure-batch/start-task.sh"
check_printed "... and says so" "POOLSCOPE_BROKER is not set"
check "it brings up the agent and prepares the node" batch POOLSCOPE_BROKER="ipc://$DIR/run/broker.ipc" \
	sh "$deploy/azure-batch/start-task.sh" sh -c 'echo prepared >prepared'
check "what the pool has to prepare is done" test -s "$node/task/prepared"
first=$(cat "$node/shared/poolscope/run/agent.pid")
check_status 3 "it ends as the preparation ends" batch POOLSCOPE_BROKER="ipc://$DIR/run/broker.ipc" \
	sh "$deploy/azure-batch/start-task.sh" sh -c 'exit 3'
check_text "a second time the agent is left alone" "$first" "$(cat "$node/shared/poolscope/run/agent.pid")"
check "events of both are stored under the names of Batch" wait_until \
	'[ "$(poolscope-dump -p "acct\$pool" -n tvm-1 --format jsonl --name "nodeprep:*" | wc -l)" -eq 4 ]' 30

# ---- Kubernetes: read as YAML, and judged by the programs' own options
if python3 -c 'import yaml' 2>/dev/null; then
	check "the manifests agree with the programs" python3 tests/flow/kubernetes.py "$B/bin" "$deploy"/kubernetes/*.yaml
else
	echo "SKIPPED Kubernetes: no python3-yaml"
fi

# ---- the example configuration is one
for name in agent broker aggregator; do
	sh "$deploy/example-conf.sh" "$B/bin/poolscope-$name" >"$TMP/$name.conf"
	check "the example of the $name is taken as it is" "$ROOT/tests/flow/counters.py" --config "$TMP/$name.conf"
	check_text "... and names each option that a file can have" "" "$(
		"$B/bin/poolscope-$name" --help-all | grep -o -e '^  \(-[A-Za-z], \)\? *--[a-z0-9-]*' | grep -o -e '--[a-z0-9-]*' |
			sed 's/--//' | while read -r option; do
			case $option in help | help-all | version | config | dir | ready-fd | pid-file | replay | print) continue ;; esac
			grep -q "^	#$option = " "$TMP/$name.conf" || echo "$option"
		done)"
done
