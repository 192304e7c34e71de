#!/bin/sh
# Poison: an agent with a key sends what nobody can read.  It is kept and
# counted up to a quota, stops nobody, and a start does not stumble over it.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

door=tcp://127.0.0.1:25710
small=100KiB
large=1MiB
dead() {
	_dead=$1
	shift
	check "$_dead" /usr/bin/python3 "$ROOT/tests/attack/rejected.py" "$@"
	sed 's/^/# /' "$TMP/out"
}

# listed QUOTA...: what the readers are told is what was sent.
listed() {
	check "the honest batches are folded" wait_until folded
	check "dead letters can be dumped" poolscope-dump -p 'acct$pool' \
		--kind rejected -o "$TMP/dead.jsonl"
	check "... and events" poolscope-dump -p 'acct$pool' \
		--kind event -o "$TMP/events.jsonl"
	check "... and status" poolscope-stats status --format json -o "$TMP/status.json"
	dead "who sent what, how much of it is kept, and its hash are told" judge \
		"$TMP/ledger" "$TMP/dead.jsonl" "$TMP/events.jsonl" "$TMP/status.json" "$@"
}

{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -n 'n*' -o "$TMP/nodes.key"
} >/dev/null || exit 1
check "an aggregator" start aggregator poolscope-aggregator --rejected-bytes $small || exit 1
check "a broker with a door of keys" start broker poolscope-broker --listen "$door" || exit 1
dead "poison is acknowledged as a dead letter, what is between as it is" \
	send "$door" "$TMP/nodes.key" "$TMP/ledger" 0
listed 102400
check "status says it in words" poolscope-stats status
check_said "... how many were cut" 'rejected_cut'

stop aggregator KILL
check "a start after a kill does not stumble" \
	start aggregator poolscope-aggregator --rejected-bytes $small || exit 1
listed 102400
dead "the quota is as full as it was" \
	send "$door" "$TMP/nodes.key" "$TMP/ledger" 1
listed 102400 102400
stop aggregator
check_text "it ends as it should" 0 "$STATUS"
check "a larger quota" \
	start aggregator poolscope-aggregator --rejected-bytes $large || exit 1
dead "... has room" send "$door" "$TMP/nodes.key" "$TMP/ledger" 2
listed 102400 102400 1048576
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
check "its letters can be sealed" poolscope-admin compact
check "... and it is still whole" poolscope-admin verify
