#!/bin/sh
# The key of an agent is replaced by one of another name, or its node is renamed,
# while it has records that nobody has acknowledged: its sessions belong to the old
# name.  It goes on under another session: every record is there once, none waits
# for ever, and who waits for an event hears of it.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

listener=tcp://127.0.0.1:25730
node=$TMP/node
key=$TMP/node.key
{
	poolscope-keys new server --role server
	poolscope-keys new before -o "$key"
} >/dev/null || exit 1
# agent NODE: begins.
agent() {
	start agent poolscope-agent --dir "$node" --no-samples --no-clock -p 'acct$p' -n "$1" \
		--broker "$listener" --key "$key"
}
head_of_pool() {
	start aggregator poolscope-aggregator --pid-file "$DIR/run/aggregator.pid" &&
		start broker poolscope-broker --listen "$listener" --pid-file "$DIR/run/broker.pid"
}
emit() { poolscope-emit --dir "$node" "$@"; }
names() { poolscope-dump -q -p 'acct$p' --kind event --format jsonl | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort; }
settled() { [ "$(names | wc -l)" -ge "$1" ]; }

check "an aggregator and a broker" head_of_pool
check "an agent" agent n1
check "an event is stored" emit t a1 --wait stored
check "... in another partition, too" emit -p 'acct$q' t q1 --wait stored
stop broker
check "events that nobody has acknowledged" emit t a2
check "... of a session" emit t a3
stop agent
check "... and of the next one" agent n1
check "... more" emit t a4
check "the key is revoked" poolscope-keys revoke before
rm -f "$key"
check "one of another name takes its place" poolscope-keys new after -o "$key"
kill -HUP "$(pid agent)"
check "the broker is back" start broker poolscope-broker --listen "$listener" --pid-file "$DIR/run/broker.pid"
check "all of them arrive" wait_until 'settled 4' 60
check "an event after that" emit t a5 --wait stored --timeout 60s
check "... of the other partition" emit -p 'acct$q' t q2 --wait stored --timeout 60s
check_text "each is there once" "a1 a2 a3 a4 a5" "$(names | tr '\n' ' ' | sed 's/ $//')"

stop broker
check "events of a node" emit t b1
stop agent
check "... that gets another name" agent n2
check "... more" emit t b2
check "the broker is back" start broker poolscope-broker --listen "$listener" --pid-file "$DIR/run/broker.pid"
check "an event of the new name" emit t b3 --wait stored --timeout 60s
check "all of them arrive" wait_until 'settled 8' 60
check_text "each is there once" "a1 a2 a3 a4 a5 b1 b2 b3" "$(names | tr '\n' ' ' | sed 's/ $//')"
check_text "nothing was lost" 0 "$(poolscope-dump -q -p 'acct$p' --kind gap --format jsonl | wc -l)"
check_text "nothing is set aside" 0 "$(find "$node/spool" -path '*refused*' -type f | wc -l)"
stop agent
check_text "the agent ends well" 0 "$STATUS"
"$ROOT/tests/flow/counters.py" >"$TMP/status"
check "a session of before is not asked about again and again" /usr/bin/python3 -c 'import json, sys
n = json.load(open(sys.argv[1]))["aggregator:refused"]["forbidden_session"]
print(n)
assert 2 <= n <= 12, n' "$TMP/status"
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
