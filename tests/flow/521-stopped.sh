#!/bin/sh
# An agent that is stopped says so: its node has stopped, and is not missed.  One that is killed says
# nothing.  Whoever is stopped while nobody is connected does not wait.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

export POOLSCOPE_PARTITION='acct$pool'
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
# agent NODE [OPTION...]
agent() {
	node=$1
	shift
	start "$node" poolscope-agent --no-samples --no-clock -n "$node" --spool "$TMP/$node" \
		--socket "$TMP/$node.sock" --fallback "$TMP/$node.left" "$@" || exit 1
}
emit() {
	poolscope-emit --socket "$TMP/$1.sock" --wait stored work "$2"
}
# states: node and state of each node, by name.
states() {
	poolscope nodes --format csv --sort node >"$TMP/nodes.csv"
	cut -d, -f1,2 "$TMP/nodes.csv" | sed 1d | paste -sd' '
}
are() {
	[ "$(states)" = "$1" ]
}
agent n1
agent n2
agent n3
for n in n1 n2 n3; do
	check "an event of $n" emit "$n" one
done
stop n1
check_text "an agent is stopped" 0 "$STATUS"
stop n2 KILL
check "it has stopped, the one that was killed is not heard for some time only" wait_until 'are "n1,stopped n2,live n3,live"' 30
check_text "its log says nothing of it" "" "$(grep -e 'will count' -e 'did not answer' "$TMP/n1.log")"
check "top says so" wait_until 'poolscope top --once -p "acct\$pool" | grep -q "^n1 .*stopped"' 10
check "status is content" poolscope status

agent n1
check "an event of the one that stopped" emit n1 two
check "it is back" wait_until 'are "n1,live n2,live n3,live"' 30
# A second partition of the same session.
check "an event of another pool" sh -c 'POOLSCOPE_PARTITION= poolscope-emit -p "acct\$other" --socket "$1" --wait stored work three' - "$TMP/n1.sock"
stop n1
check "it has stopped in both" wait_until 'are "n1,stopped n2,live n3,live"' 30
check_text "... the other one, too" "n1,stopped" "$(POOLSCOPE_PARTITION='acct$other' states)"
stop aggregator
start aggregator poolscope-aggregator || exit 1
check_text "a restart of the aggregator changes nothing" "n1,stopped n2,live n3,live" "$(states)"

# Everything is acknowledged, and nobody is there: it could wait for an hour.
agent n4 --drain 1h
check "an event of n4" emit n4 one
stop broker
stop n4
check_text "it stops at once" 0 "$STATUS"
check "... and says what becomes of that" grep -q "no broker is connected that could hear that this node stops" "$TMP/n4.log"
# ... or is there, does not answer, and is gone then.
start broker poolscope-broker || exit 1
agent n5 --drain 1h
check "an event of n5" emit n5 one
kill -STOP "$(pid broker)"
kill -TERM "$(pid n5)"
check "its agent stops" wait_until 'grep -q "stopping (Terminated)" "$TMP/n5.log"'
check_status 1 "... and waits for an answer" grep -q "stopped$" "$TMP/n5.log"
stop broker KILL
# A second signal would end it before it reports that.
check "without the broker it stops" wait_until 'grep -q "stopped$" "$TMP/n5.log"' 30
stop n5
check_text "without the broker it does not" 0 "$STATUS"
check "... which it says" grep -q "no broker is connected that could hear that this node stops" "$TMP/n5.log"
stop n3
start broker poolscope-broker || exit 1
agent n3
check "an event of n3" emit n3 two
stop aggregator
stop n3
check_text "without an aggregator behind the broker it waits for --drain" 0 "$STATUS"
check "... and says so" grep -q "the aggregator did not answer that this node stops" "$TMP/n3.log"
stop broker
