#!/bin/sh
# Nodes leave a pool in three ways: their agent stops in order (484), an operator retires them, or they
# are not heard for --retire-after.  Until then they are missed.
#
# Now is 0.  n1 was heard at -5: live; n2 and n3 at -7200, n5 at -172800, which is two days: gone; n4 at -691200,
# which is 8 days: after 7 it is retired, at -691200 + 604800 = -86400.  In the other pool is another n2.
#
# A list with a name or a pattern of no node retires nobody.  n2 is retired, then n3, n5 and n1 by
# a list of both kinds; then records of n3, of -1200, and of n1, of -2, come: n3 is silent, n1 live.
# With --retire-after 0 nobody is retired by time: n4 is gone.  With 1h n3 is silent still (20 min).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END'
	event -5 n1 other:one
	event -7200 n2 other:one
	event -7200 n3 other:one
	event -691200 n4 other:one
	event -172800 n5 other:one
END
PARTITION='acct$other' records <<-'END'
	event -5 n2 other:one
END
states() {
	poolscope nodes --format csv --sort node "$@" >"$TMP/nodes.csv" # some need attention: 3
	columns node,state,attention cat "$TMP/nodes.csv" | paste -sd' '
}
check_text "the nodes" "n1,live,false n2,gone,true n3,gone,true n4,stopped,false n5,gone,true" "$(states)"
check_text "since when n4 is retired" -86400 "$(/usr/bin/python3 -c '
import csv, datetime, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["node"] == "n4":
        print(round(datetime.datetime.fromisoformat(row["stopped"].replace("Z", "+00:00")).timestamp()) - int(sys.argv[2]))' \
	"$TMP/nodes.csv" "$BASE")"
check_status 3 "status misses three, however long they are gone" poolscope status
check_text "... and says so" "warning: nodes need attention (3 gone): poolscope nodes -p 'acct\$pool'" "$(head -1 "$TMP/out")"

# refused SENTENCE ARGUMENT...: `poolscope nodes retire` fails with the sentence.
refused() {
	_sentence=$1
	shift
	check_status 1 "refused: $*" poolscope nodes retire "$@"
	check_text "... with a sentence" "poolscope-admin: $_sentence" "$(cat "$TMP/err")"
}
refused "partition acct\$pool has no node n9; nothing was retired (poolscope nodes lists them)" 'n[2,9]'
refused "no node of partition acct\$pool matches x*; nothing was retired (poolscope nodes lists them)" 'n2,x*'
refused "$DIR/store has no partition acct\$none (poolscope partition list)" -p 'acct$none' n2
check_status 2 "a list must be named" poolscope nodes retire
check_text "nobody was retired" "n1,live,false n2,gone,true n3,gone,true n4,stopped,false n5,gone,true" "$(states)"

answer "n2 is retired" "1 node of acct\$pool is retired, until a record of it comes" poolscope nodes retire n2
wait_until indexed 30
check_text "... and missed no longer" "n1,live,false n2,stopped,false n3,gone,true n4,stopped,false n5,gone,true" "$(states)"
check_text "that of the other pool is not" "n2,live,false" "$(states -p 'acct$other')"
answer "others are, by a list" "3 nodes of acct\$pool are retired, until a record of them comes" \
	poolscope nodes retire -p "$PARTITION" 'n[3,5],n1*'
wait_until indexed 30
check "nobody is missed" poolscope status
check_text "... by alerts, too" 0 "$(poolscope stats metrics | awk '/^poolscope_pool_attention/ { n += $2 } END { print n + 0 }')"
records <<-'END'
	event -1200 n3 other:two
	event -2 n1 other:two
END
check_text "who is heard is back" "n1,live,false n2,stopped,false n3,silent,true n4,stopped,false n5,stopped,false" "$(states)"
stop aggregator

refused "the aggregator must run to retire nodes: ipc://$DIR/run/intake.ipc: nobody listens there (poolscope up)" n3
aggregate --retire-after 0
check_text "nobody is retired by time" "n1,live,false n2,stopped,false n3,silent,true n4,gone,true n5,stopped,false" "$(states)"
stop aggregator
check "the store knows that, without its aggregator" poolscope-admin verify
check_text "... as does who reads it" "n1,live,false n2,stopped,false n3,silent,true n4,gone,true n5,stopped,false" "$(states --store "$DIR/store")"
aggregate --retire-after 15m
check_text "after 15 min" "n1,live,false n2,stopped,false n3,stopped,false n4,stopped,false n5,stopped,false" "$(states)"
