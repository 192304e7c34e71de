#!/bin/sh
# Several readers at a time: each gets its own answer whole and in order, those
# that die disturb nobody, and the aggregator ends while it answers.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's; conditions are for wait_until
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

POOL='acct$pool'
LINK=ipc://$DIR/run/reader.ipc

# 40 nodes with 400 events each: 16,000 records, some 20 pages.
awk 'BEGIN {
	for (node = 1; node <= 40; node++)
		for (i = 0; i < 400; i++)
			printf "{\"PartitionKey\": \"acct$pool\", \"RowKey\": \"%d.%06d\", " \
				"\"Event\": \"test:tick\", \"NodeId\": \"n%02d\", \"Message\": \"count=%d\"}\n",
				1508000000 + i, node, node, i
}' >"$TMP/events.jsonl"
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "events are stored" timeout 60 poolscope-import cascade "$TMP/events.jsonl" --quiet
all() {
	timeout 60 poolscope-dump -p "$POOL" --connect "$LINK" --format csv "$@"
}
indexed() {
	[ "$(all | wc -l)" -eq 16001 ]
}
check "... all of them" wait_until indexed
all >"$TMP/all"
all -n n07 >"$TMP/one"

# ---- eight readers, half of which want everything
readers=""
for i in 1 2 3 4; do
	(all >"$TMP/all.$i") &
	readers="$readers $!"
	(for _ in 1 2 3 4 5; do all -n n07; done >"$TMP/one.$i") &
	readers="$readers $!"
done
# shellcheck disable=SC2086
wait $readers
for _ in 1 2 3 4 5; do cat "$TMP/one"; done >"$TMP/five"
for i in 1 2 3 4; do
	check "reader $i of everything has every event, in order" cmp "$TMP/all" "$TMP/all.$i"
	check "reader $i of one node has its events" cmp "$TMP/five" "$TMP/one.$i"
done

# ---- readers that die
for _ in 1 2 3 4 5 6 7 8 9 10; do
	poolscope-dump -p "$POOL" --connect "$LINK" --format csv >"$TMP/killed" 2>&1 &
	dying=$!
	wait_until '[ -s "$TMP/killed" ]' >/dev/null
	kill -9 "$dying" 2>/dev/null
	wait "$dying" 2>/dev/null
done
all >"$TMP/after"
check "readers that are killed disturb nobody" cmp "$TMP/all" "$TMP/after"
check "no question failed" sh -c '"$ROOT/tests/flow/counters.py" --connect "$1" |
	grep -q "\"questions_failed\": *0[,}]"' - "$LINK"

# ---- the aggregator ends while it answers
readers=""
for i in 1 2 3 4 5 6; do
	(while all; do :; done >"$TMP/busy.$i" 2>&1) &
	readers="$readers $!"
done
for i in 1 2 3 4 5 6; do
	check "reader $i gets answers" wait_until "[ -s '$TMP/busy.$i' ]"
done
check "an aggregator that is asked all the time stops" stop aggregator
# shellcheck disable=SC2086
wait $readers
check "... and says nothing of errors" sh -c '! grep -E "ERROR|Sanitizer|assert" "$1"' - "$TMP/aggregator.log"
