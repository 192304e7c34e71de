#!/bin/sh
# A large partition is dropped while its sender goes on, and the command is killed at
# random points: what is left is whole, and nothing of another partition is gone.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${SEED:-$$}
echo "seed $SEED"

# rows FIRST LAST PARTITION: an event of each of these nodes.
rows() {
	seq "$1" "$2" | awk -v p="$3" '{
		printf "{\"PartitionKey\":\"%s\",\"RowKey\":\"%d\",\"Event\":\"work:start\",\"NodeId\":\"n%d\"}\n", p, 1700000000 + $1, $1 }'
}
# row PARTITION: what the list says of it, "nodes records".
row() {
	poolscope-partitions list --format jsonl | /usr/bin/python3 -c 'import json, sys
print(*[str(r["nodes"]) + " " + str(r["records"]) for r in map(json.loads, sys.stdin) if r.get("partition") == sys.argv[1]])' "$1"
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
rows 1 12000 'acct$wrong' >"$TMP/wrong"
rows 1 300 'acct$right' >"$TMP/right"
check "a partition of 12000 nodes" poolscope-import -q cascade "$TMP/wrong" "$TMP/right"
wait_until indexed 60
check_text "... is listed" "12000 12000" "$(row 'acct$wrong')"
poolscope-dump -q -p 'acct$right' --format jsonl >"$TMP/before"

kills=0
for round in 1 2 3 4 5 6; do
	rows $((20000 + round * 100)) $((20099 + round * 100)) 'acct$wrong' >"$TMP/more"
	poolscope-import -q cascade "$TMP/more" &
	sender=$!
	timeout -s KILL "0.0$(((SEED + round * 7) % 9 + 1))" poolscope-partitions drop --yes 'acct$wrong' >"$TMP/drop" 2>&1 ||
		kills=$((kills + 1))
	wait "$sender" || fail "a sender goes on while its partition is dropped"
done
echo "killed $kills of 6 times"
rows 30000 30099 'acct$wrong' >"$TMP/more"
check "more is sent" poolscope-import -q cascade "$TMP/more"
check "it is dropped in the end" poolscope-partitions drop --yes 'acct$wrong'
check_text "... all of it" "" "$(row 'acct$wrong')"
check_text "... no record can be read" 0 "$(poolscope-dump -q -p 'acct$wrong' --format jsonl | wc -l)"
poolscope-dump -q -p 'acct$right' --format jsonl >"$TMP/after"
check "... nothing of the other" cmp "$TMP/before" "$TMP/after"
rows 1 50 'acct$wrong' >"$TMP/new"
check "what is sent later makes it again" poolscope-import -q cascade "$TMP/new"
wait_until indexed 60
check_text "... with that alone" "50 50" "$(row 'acct$wrong')"
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
