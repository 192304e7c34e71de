#!/bin/sh
# A key that does not permit what an agent sends: the agent says at once who refuses
# what, and what the key may do; import says the same, and so do emit and run as soon
# as the agent knows. With the right -p the records of this agent go through.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
listen=127.0.0.1:25791

check "a server has a key" poolscope-keys new server --role server
check "so have nodes of one pool" poolscope-keys new nodes -p 'acct$render-*' -n 'n*' -o "$TMP/nodes.key"
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker --listen "ipc://$DIR/run/broker.ipc" --listen "tcp://$listen" || exit 1
may="key 'nodes' has role agent and may use partition 'acct\$render-\*', node 'n\*'"

# refused NAME WHAT ARGUMENT...: an agent of this partition and node hears that it is.
refused() {
	_name=$1
	_what=$2
	shift 2
	: >"$TMP/agent.log"
	start agent poolscope-agent --no-samples --broker "tcp://$listen" --key "$TMP/nodes.key" "$@" || return
	poolscope-emit test refused --wait accepted
	check "$_name: the agent hears of it at once" wait_until \
		'grep -q "tcp://$listen: $_what is forbidden: $may; records wait in the spool" "$TMP/agent.log"' 10
	check_text "$_name: once a minute" 1 "$(grep -c 'is forbidden' "$TMP/agent.log")"
	says="records wait in the agent's spool: $_what is forbidden by tcp://$listen: $may"
	check_status 77 "$_name: so does the next emit" poolscope-emit test refused
	check_printed "... who refuses what, and what the key may do" "$says"
	check_status 77 "$_name: the front command and standard input" sh -c 'echo test refused | poolscope emit --stdin'
	check_printed "... say the same" "stdin:1: 1 event published: $says"
	check_status 77 "$_name: whoever waits for the store" poolscope-emit test refused --wait stored --timeout 1s
	check_printed "... hears it when the time is over" "$says"
	check_status 0 "$_name: run has the status of the command" poolscope-run -- true
	check_printed "... and says the same" "$says"
	stop agent
	rm -rf "$DIR/spool"
	# One that waits while the agent asks for the first time.
	start agent poolscope-agent --no-samples --broker "tcp://$listen" --key "$TMP/nodes.key" "$@" || return
	check_status 77 "$_name: the first that waits" poolscope-emit test refused --wait stored --timeout 3s
	check_printed "... hears it too" "$says"
	stop agent
	rm -rf "$DIR/spool"
}
refused "another pool" "partition 'acct\$other', node 'n1'" -p 'acct$other' -n n1
refused "another node" "partition 'acct\$render-60', node 'm1'" -p 'acct$render-60' -n m1

printf '{"PartitionKey":"acct$other","RowKey":"1","Event":"a:b","NodeId":"n1"}\n' >"$TMP/row"
check_status 1 "import is refused" timeout 60 poolscope-import --key "$TMP/nodes.key" --broker "tcp://$listen" \
	-n n1 cascade "$TMP/row"
check_printed "... in the same words" "partition 'acct\$other', node 'n1' is forbidden: $may"

: >"$TMP/agent.log"
start agent poolscope-agent --no-samples --broker "tcp://$listen" --key "$TMP/nodes.key" \
	-p 'acct$render-60' -n n1 || exit 1
check "what it permits is stored" poolscope-emit test permitted --wait stored
check_status 1 "... without a warning" grep -q 'is forbidden' "$TMP/agent.log"
for service in agent broker aggregator; do
	stop "$service"
done
