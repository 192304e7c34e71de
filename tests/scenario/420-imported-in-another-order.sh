#!/bin/sh
# 6,000 different events are imported, and again from the file with its last line first, and again
# without every third line.  No row was new: 6,000 are there, and of each node one.
#
# Of three lines two are equal and one is not; with the lines in another order, they are known, too: 3.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# rows PARTITION N...: of each node an event.
rows() {
	_partition=$1
	shift
	printf '%s\n' "$@" | awk -v p="$_partition" '{
		printf "{\"PartitionKey\":\"%s\",\"RowKey\":\"%d\",\"Event\":\"work:start\",\"NodeId\":\"n%d\"}\n", p, 1700000000 + $1, $1 }'
}
# stored PARTITION: events and nodes.
stored() {
	wait_until indexed 60 || return
	poolscope-dump -q -p "$1" --kind event --format jsonl | /usr/bin/python3 -c 'import json, sys
for line in sys.stdin:
	print(json.loads(line)["node"])' >"$TMP/stored"
	echo "$(wc -l <"$TMP/stored") $(sort -u "$TMP/stored" | wc -l)"
}

aggregate
start broker poolscope-broker || exit 1
# shellcheck disable=SC2046 # words
rows 'acct$many' $(seq 6000) >"$TMP/rows"
tac "$TMP/rows" >"$TMP/back"
awk 'NR % 3' "$TMP/rows" >"$TMP/less"
check "6000 events" poolscope-import cascade -p 'acct$many' "$TMP/rows"
check_text "... are there, each once" "6000 6000" "$(stored 'acct$many')"
check "the same from the last to the first" poolscope-import cascade -p 'acct$many' "$TMP/back"
check_text "... are none more" "6000 6000" "$(stored 'acct$many')"
check "two thirds of them" poolscope-import cascade -p 'acct$many' "$TMP/less"
check_text "... neither" "6000 6000" "$(stored 'acct$many')"

rows 'acct$three' 1 1 2 >"$TMP/three"
rows 'acct$three' 2 1 1 >"$TMP/other"
check "two equal rows and another" poolscope-import cascade -p 'acct$three' "$TMP/three"
check "... in another order" poolscope-import cascade -p 'acct$three' "$TMP/other"
check_text "... are three" "3 2" "$(stored 'acct$three')"
