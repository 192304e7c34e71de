#!/bin/sh
# Three teams share a store.  Ann's key is of acct$*, so that status shows her pools: acct$blue
# with 2 nodes and 3 records, and acct$red with 1 node and 1 record: together 2 partitions,
# 3 nodes and 4 records.  Of other$gold, with 5 records of 4 nodes, she sees nothing, nor of
# the health of the store.  Bob's key is of acct$blue alone: 1 partition, 2 nodes, 3 records.
# Whoever has a key of all sees 3 partitions, 7 nodes and 9 records.  Ann mistypes the
# name of a pool of hers and hears which one was meant; of another team's she does not.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

desk=tcp://127.0.0.1:25740
unset POOLSCOPE_PARTITION
{
	poolscope-keys new server --role server
	poolscope-keys new ann --role reader -p 'acct$*' -o "$TMP/ann.key"
	poolscope-keys new bob --role reader -p 'acct/blue' -o "$TMP/bob.key"
	poolscope-keys new eve --role reader -o "$TMP/eve.key"
} >/dev/null || exit 1
aggregate --reader "ipc://$DIR/run/reader.ipc" --reader "$desk"
PARTITION='other$gold'
records <<-'END'
	event 100 g1 work:a
	event 100 g2 work:a
	event 100 g3 work:a
	event 100 g4 work:a
	event 101 g4 work:b
END
PARTITION='acct$blue'
records <<-'END'
	event 100 n1 work:a
	event 200 n1 work:b
	event 250 n2 work:c
END
PARTITION='acct$red'
records <<-'END'
	event 300 r1 work:a
END

# as NAME COMMAND...: with the key of somebody.
as() {
	_as=$TMP/$1.key
	shift
	timeout 60 "$@" --connect "$desk" --key "$_as"
}
# sums NAME: partitions, nodes and events of the store, and the names of the partitions.
sums() {
	as "$1" "$ROOT/tests/flow/counters.py" >"$TMP/json"
	/usr/bin/python3 -c 'import json, sys
status = json.load(open(sys.argv[1]))
store = status["store"]
print(store["partitions"], store["nodes"], store["records_event"], *sorted(status["partitions"]))' "$TMP/json"
}
answer "a key of all sees all" '3 7 9 acct$blue acct$red other$gold' sums eve
answer "a key of some sees theirs" '2 3 4 acct$blue acct$red' sums ann
answer "a key of one, written with a slash, sees that" '1 2 3 acct$blue' sums bob
check "status in words" as ann poolscope status
check_printed "... says what it knows" "^ok: the store answers; a key of all partitions shows its health$"
check_printed "... whose sums they are" "^store  *2 partitions, 3 nodes, 4 records$"
check_printed "... and that there may be more" "^store  *this key may read no other partitions$"
check_printed "... names the newest" '^acct.red  *1  *1  2023-11-14T22:18:20'
check_status 1 "... and no other" grep -q 'gold\|aggregator' "$TMP/out"
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
check "all counters" as ann poolscope status -v
check_printed "... are those of the partitions" "^store  *records_event  *4  -$"
check_status 1 "... alone" grep -q 'gold\|bytes\|journal\|entr' "$TMP/out"
check_status 1 "a mistyped pool" as ann poolscope-stats phases -p 'acct$bleu'
check_printed "... is named" 'there is no such partition; did you mean acct.blue or acct.red?$'
check_status 1 "a pool of others, mistyped" as ann poolscope-stats phases -p 'acct$gold'
check_status 1 "... is not" grep -q 'other' "$TMP/out"
