#!/bin/sh
# Options of the agent that change how it samples: a limit that HUP changes, and
# a value that looks like an option.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

HOST=$TMP/proc
mkdir -p "$HOST/pressure"
echo 'cpu  1 2 3 4 5 6 7 8 0 0' >"$HOST/stat"
echo 'some avg10=15.00 avg60=0.00 avg300=0.00 total=1000' >"$HOST/pressure/memory"
events() {
	stored 'r["record"][2]' 'r["kind"] == 1 and r["record"][1] == "agent"'
}
# shellcheck disable=SC2317 # in wait_until
samples() {
	stored 'r["record"][2]' 'r["kind"] == 2 and r["record"][1] == "cpu"' | wc -l
}
conf() {
	printf 'agent {\n    throttle_pressure = %s\n}\n' "$1" >"$TMP/agent.conf"
}

start_aggregator || exit 1
conf 20
check "it starts" start agent poolscope-agent --config "$TMP/agent.conf" --broker "$AGGREGATOR" -p acct/pool \
	-n node1 --proc "$HOST" --period 100ms --send-interval 100ms --metric-groups cpu
wait_until '[ "$(samples)" -ge 5 ]' 30
check_text "15 % are below a limit of 20 %" "" "$(events)"
conf 10
kill -HUP "$(pid agent)"
check "after a HUP they are above one of 10 %" wait_until 'events | grep -qx throttled' 30
conf 40
kill -HUP "$(pid agent)"
check "and below half of one of 40 %" wait_until 'events | grep -qx throttled-end' 30
stop agent
rm -rf "$DIR/spool"
check "a node may be called --replay" start agent poolscope-agent --broker "$AGGREGATOR" -p acct/pool \
	-n --replay --proc "$HOST" --no-samples
check "and so may what follows a long option" grep -q 'node=--replay' "$TMP/agent.log"
stop agent
wrong_usage "a replay of nothing is refused" "operand\|DIR" poolscope-agent --replay
