#!/bin/sh
# Who only imports into a pool is no node of it: nobody waits for its records, and it does not count.
#
# Now is 0.  n1 and n2 were heard at -5.  A farm's test runs are imported: its 220 events are of node
# "testrun", of 1970.  A dump of another pool is imported, too: b1 and b2, of -7200, which are nodes,
# but no agent of them was ever heard.  So the pool has 4 nodes, of which 2 are live, and 3 are listed as
# imported; nothing is wrong.
#
# Then a host named testrun sends an event of -3 itself, as an agent: it is live, and the fifth node.  An
# import of it again changes nothing.  b1 sends one of -1200: silent.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END'
	event -5 n1 other:one
	event -5 n2 other:one
END
PARTITION='acct$other' records <<-'END'
	event -7200 b1 other:one
	event -7200 b2 other:one
END
import() {
	poolscope-import "$@" --broker "ipc://$DIR/run/intake.ipc"
}
poolscope dump -p 'acct$other' --format jsonl >"$TMP/dump.jsonl"
poolscope partition drop --yes 'acct$other' >"$TMP/dropped"
check "a farm is imported" import testrun -p "$PARTITION" "$ROOT/tests/golden/testrun/m01_twenty"
check "a dump is" import records -p "$PARTITION" "$TMP/dump.jsonl"
wait_until indexed 30
states() {
	poolscope nodes --format csv --sort node >"$TMP/nodes.csv" # some may need attention: 3
	columns node,state,attention cat "$TMP/nodes.csv" | paste -sd' '
}
# counted: of status, of the pools.
counted() {
	poolscope status --format json >"$TMP/status"
	/usr/bin/python3 -c '
import json, sys
of = json.load(open(sys.argv[1]))["partitions"]
print(*[row["nodes"] for row in of if row["partition"] == sys.argv[2]])' "$TMP/status" "$PARTITION"
	columns nodes,live,imported poolscope stats pools -p "$PARTITION" --format csv
}
check_text "the nodes" "b1,imported,false b2,imported,false n1,live,false n2,live,false testrun,imported,false" "$(states)"
check "nothing is wrong" poolscope status
check_text "four nodes are counted" "4
4,2,3" "$(counted)"
check_text "no alert has a reason" 0 "$(poolscope stats metrics | awk '/^poolscope_pool_attention/ { n += $2 } END { print n + 0 }')"

records <<-'END'
	event -3 testrun other:one
	event -1200 b1 other:two
END
check_text "who sends records itself is a node" "b1,silent,true b2,imported,false n1,live,false n2,live,false testrun,live,false" "$(states)"
check_text "... and counts" "5
5,3,1" "$(counted)"
check "the farm is imported again" import testrun -p "$PARTITION" "$ROOT/tests/golden/testrun/m01_twenty"
wait_until indexed 30
check_text "... which changes nothing" "5
5,3,1" "$(counted)"
stop aggregator
check "verify finds nothing" poolscope-admin verify
