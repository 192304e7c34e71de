#!/bin/sh
# Rejected batches: an agent with a key sends bodies that nobody can read.  They
# are stored and counted up to a quota, stop nobody, and survive a restart.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25710
small=100KiB
large=1MiB
rejected() {
	_rejected=$1
	shift
	check "$_rejected" /usr/bin/python3 "$ROOT/tests/attack/rejected.py" "$@"
	sed 's/^/# /' "$TMP/out"
}

# listed QUOTA...: readers get what was sent.
listed() {
	check "the honest batches are indexed" wait_until indexed
	check "rejected batches can be dumped" poolscope-dump -p 'acct$pool' \
		--kind rejected -o "$TMP/rejected.jsonl"
	check "... and events" poolscope-dump -p 'acct$pool' \
		--kind event -o "$TMP/events.jsonl"
	check "... and status" "$ROOT/tests/flow/counters.py"
	cp "$TMP/out" "$TMP/status.json"
	rejected "sender, size, stored part and hash of each are listed" judge \
		"$TMP/ledger" "$TMP/rejected.jsonl" "$TMP/events.jsonl" "$TMP/status.json" "$@"
}

{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -n 'n*' -o "$TMP/nodes.key"
} >/dev/null || exit 1
check "an aggregator" start aggregator poolscope-aggregator --rejected-bytes $small || exit 1
check "a broker whose listener has keys" start broker poolscope-broker --listen "$listener" || exit 1
rejected "a bad batch is acknowledged as rejected, those between as good" \
	send "$listener" "$TMP/nodes.key" "$TMP/ledger" 0
listed 102400
check_status 3 "status warns of it in words" poolscope-stats status -v
check_printed "... how many were cut" 'rejected_cut'

stop aggregator KILL
check "it starts again after a kill" \
	start aggregator poolscope-aggregator --rejected-bytes $small || exit 1
listed 102400
rejected "the quota is as full as it was" \
	send "$listener" "$TMP/nodes.key" "$TMP/ledger" 1
listed 102400 102400
stop aggregator
check_text "it ends as it should" 0 "$STATUS"
check "a larger quota" \
	start aggregator poolscope-aggregator --rejected-bytes $large || exit 1
rejected "... has room" send "$listener" "$TMP/nodes.key" "$TMP/ledger" 2
listed 102400 102400 1048576
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
check "its rejected batches can be compacted" poolscope-admin compact
check "... and it is still whole" poolscope-admin verify
