#!/bin/sh
# start-task - the start task of an Azure Batch pool: start poolscope's agent on
# the node, run the pool's own preparation, and emit an event at its start and end.
#
#   POOLSCOPE_BROKER=tcp://head:5570 sh start-task.sh [COMMAND...]
#
# Resource files of the task, in its working directory: agent.key, and
# poolscope-agent_*.deb unless the image contains the programs.  A node that
# reboots runs it again, which is safe.  Exits with the status of COMMAND.
# SPDX-License-Identifier: MIT
set -eu

fail() {
	echo "start-task: $*" >&2
	exit 1
}

[ -n "${POOLSCOPE_BROKER:-}" ] || fail "POOLSCOPE_BROKER is not set: tcp://HOST:PORT of the broker"
began=$(date +%s.%N)

# With the packages the agent is a service; in an image with the programs and
# without systemd it is a plain process.
as_service() {
	apt-get -o DPkg::Lock::Timeout=600 install -y -qq ./poolscope-agent_*.deb
	mkdir -p /etc/poolscope/conf.d
	# systemd starts the service, without the environment of Batch.
	cat >/etc/poolscope/conf.d/azure-batch.conf <<-END
		agent {
		    partition = "${AZ_BATCH_ACCOUNT_NAME:?}\$${AZ_BATCH_POOL_ID:?}"
		    node = "${AZ_BATCH_NODE_ID:?}"
		    broker = "$POOLSCOPE_BROKER"
		}
	END
	install -o poolscope-agent -m 0600 agent.key /var/lib/poolscope/keys/agent.key
	systemctl enable poolscope-agent
	systemctl restart poolscope-agent
}

as_process() {
	dir=${AZ_BATCH_NODE_SHARED_DIR:?}/poolscope
	mkdir -p "$dir/run" "$dir/keys"
	if [ -r agent.key ]; then install -m 0600 agent.key "$dir/keys/agent.key"; fi
	POOLSCOPE_DIR=$dir
	export POOLSCOPE_DIR
	# The lock of the pid file shows whether an agent is running.
	if [ -e "$dir/run/agent.pid" ] && ! flock -n "$dir/run/agent.pid" true; then return 0; fi
	rm -f "$dir/run/agent.ready"
	mkfifo -m 0600 "$dir/run/agent.ready"
	(
		exec 3>"$dir/run/agent.ready" </dev/null >>"$dir/agent.log" 2>&1
		exec setsid poolscope-agent --ready-fd 3 --pid-file "$dir/run/agent.pid" \
			--node "${AZ_BATCH_NODE_ID:?}"
	) &
	timeout 60 sh -c 'read -r _' <"$dir/run/agent.ready" || {
		tail -n 3 "$dir/agent.log" >&2
		fail "the agent did not start; its log is $dir/agent.log"
	}
}

if ls ./poolscope-agent_*.deb >/dev/null 2>&1; then as_service; else as_process; fi

# Without an agent, events are stored in the fallback queue, and the status is 0.
emit() {
	poolscope-emit nodeprep "$@" >/dev/null || echo "start-task: event '$1' was not emitted" >&2
}
emit start --ts "$began"
status=0
if [ $# -gt 0 ]; then "$@" || status=$?; fi
emit end --attr "status=$status"
exit "$status"
