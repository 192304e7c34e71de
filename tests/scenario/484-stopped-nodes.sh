#!/bin/sh
# Which nodes have stopped, and which are gone.
#
# Now is 0.  n1 to n12 were prepared in 20 s each at -8000, so longer than usual is above 60 s.
#
#   n1   was heard at -5, then it sent a bye: stopped
#   n2   was heard at -7200, then it sent a bye: stopped, which nobody misses
#   n3   was heard at -7200: gone
#   n4   sent bye after its record of -100, then came one of -3: it is back, live
#   n5   sent bye after its record of -1200, then came an entity, which is no record of a time: it is
#        back, and silent
#   n6   is in the phase since -400, its clock is 2 s off and 17 MiB are not sent; it sent a
#        bye: nothing of that is wrong any more
#   n7   -4: live.  It is asked for with n1.
#   n8 to n12  -2: live
#   ghost sent bye, and no record of it ever came: it is no node
#
# So 7 are live, 1 silent, 1 gone, 3 stopped; two need attention.  A bye is no record: 24 events of
# the phases, 13 others, 1 entity, 2 definitions (entities, too), 2 samples.
# It stays so when the aggregator starts again, when all is compacted, and when phases are derived again.
# Then n3 is retired, as an operator does: none is gone.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
	}
END
aggregate --models "$TMP/models"
{
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "event -8000 n$i prep:start"
		echo "event -7980 n$i prep:end"
	done
	cat <<-'END'
		event -5 n1 other:one
		bye n1
		event -7200 n2 other:one
		bye n2
		event -7200 n3 other:one
		event -100 n4 other:one
		bye n4
		event -3 n4 other:one
		event -1200 n5 other:one
		bye n5
		entity n5 host h5
		group n6 clock poolscope.clock.offset:ns:gauge
		group n6 self poolscope.agent.spool.unacked:By:gauge
		event -400 n6 prep:start
		sample -1 n6 clock 2000000000
		sample -1 n6 self 17825793
		bye n6
		event -4 n7 other:one
		event -2 n8 other:one
		event -2 n9 other:one
		event -2 n10 other:one
		event -2 n11 other:one
		event -2 n12 other:one
		bye ghost
	END
} | records
nodes() {
	poolscope nodes --format csv "$@" >"$TMP/nodes.csv" # some need attention: 3
	columns node,state,wrong cat "$TMP/nodes.csv"
}
WANTED='n3,gone,not heard
n5,silent,not heard
n10,live,
n11,live,
n12,live,
n4,live,
n7,live,
n8,live,
n9,live,
n1,stopped,
n2,stopped,
n6,stopped,'
check_text "the nodes" "$WANTED" "$(nodes)"
check_text "since when: when the bye came, some seconds ago" "n1 n2 n6" "$(/usr/bin/python3 -c '
import csv, datetime, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["stopped"]:
        ago = datetime.datetime.fromisoformat(row["stopped"].replace("Z", "+00:00")).timestamp() - int(sys.argv[2])
        print(row["node"] if -5 < ago < 600 else ago)' "$TMP/nodes.csv" "$BASE" | sort | paste -sd' ')"
check_status 3 "the table" poolscope nodes
check_text "... counts them" "7 live, 0 late, 1 silent, 1 gone, 3 stopped" "$(head -1 "$TMP/out")"
check "nothing is wrong with nodes that stopped" poolscope nodes -n n1,n2,n6
check_text "... nor late" "0 live, 0 late, 0 silent, 0 gone, 3 stopped" "$(head -1 "$TMP/out")"
answer "the pools" "12,7,0,1,1,3,0" columns nodes,live,late,silent,gone,stopped,imported poolscope stats pools --format csv
answer "the metrics" 'poolscope_pool_attention{partition="acct$pool",reason="clock"} 0
poolscope_pool_attention{partition="acct$pool",reason="gone"} 1
poolscope_pool_attention{partition="acct$pool",reason="lost"} 0
poolscope_pool_attention{partition="acct$pool",reason="phase"} 0
poolscope_pool_attention{partition="acct$pool",reason="silent"} 1
poolscope_pool_attention{partition="acct$pool",reason="spool"} 0
poolscope_pool_attention{partition="acct$pool",reason="start"} 0
poolscope_pool_nodes{partition="acct$pool",state="gone"} 1
poolscope_pool_nodes{partition="acct$pool",state="imported"} 0
poolscope_pool_nodes{partition="acct$pool",state="late"} 0
poolscope_pool_nodes{partition="acct$pool",state="live"} 7
poolscope_pool_nodes{partition="acct$pool",state="silent"} 1
poolscope_pool_nodes{partition="acct$pool",state="stopped"} 3' \
	sh -c 'poolscope stats metrics | grep -e "^poolscope_pool_attention{" -e "^poolscope_pool_nodes{" | LC_ALL=C sort'
check_status 3 "status" poolscope status
check_text "... names two reasons" "warning: nodes need attention (1 gone, 1 silent): poolscope nodes -p 'acct\$pool'" "$(head -1 "$TMP/out")"
answer "a bye is no record" 'event 37
entity 3
sample 2' sh -c 'poolscope dump --format jsonl | sed "s/.*\"kind\": \"\([a-z]*\)\".*/\1/" | sort | uniq -c | sort -rn | sed "s/ *\([0-9]*\) \(.*\)/\2 \1/"'
stop aggregator
check_status 3 "without an aggregator" poolscope nodes
check_text "... the answer ends with why nothing comes" "the aggregator is not running, nothing is stored; poolscope up" "$(tail -1 "$TMP/out")"
check "verify finds nothing" poolscope-admin verify
check "all is compacted" poolscope-admin compact --models "$TMP/models"
check "phases are derived again" poolscope-admin rebuild --models "$TMP/models"
check "verify finds nothing" poolscope-admin verify
check_text "it stays so" "$WANTED" "$(nodes --store "$DIR/store")"
aggregate --models "$TMP/models"
check_text "... with an aggregator, too" "$WANTED" "$(nodes)"
