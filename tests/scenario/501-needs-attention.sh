#!/bin/sh
# What needs attention is the same everywhere.
#
# Now is 0.  Thirteen nodes n1 to n13 were prepared: from -5000 - i on, for 20 s but n13, which took 100 s;
# so the median of 13 is 20 s, three times that is 60 s, and the 99th percentile, which is the
# greatest of 13, is 100 s: longer than usual is above 100 s.  n1 to n8 are heard at -1.
#
#   n9   was prepared again from -400 on: the node hangs.  400 s > 100 s
#   n10  from -90 on: that may still be
#   n11  from -3000 on, and once more from -2900 to -2880: what it left is not open
#   n12  was heard at -1200: silent; it has been in the phase since then, for 1200 s, too
#   n13  was heard at -7200: gone
#
# n9's image "a" is loaded since -4000.  Eleven loads took 1 s: of eleven values nothing is known.
# With a twelfth one it would be: 3 s and 1 s are below 30 s, so 4000 s is longer; but n9 began to be
# prepared since then, which is how a node begins: the load was left.
# n1 loads image "b" since -1000, and has loaded "c" since: "b" is not "c", it hangs as well.  (n11 left
# a load of "c" behind.)
#
# n2's clock is 2 s behind; n3 has 17 MiB that it has not sent; n4 was heard at -300: it is late,
# which is no reason.  n5's clock is an hour ahead, and it is prepared since 3550 by that:
# for 50 s.  n6's is an hour behind, and it is prepared since -3650 by that: for 50 s.
# n8's clock is an hour ahead, too, and it is prepared since 3000 by that: for 600 s, it hangs.
# n14 was heard 8 days ago: it is retired, and counts as stopped.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

model_of_loads
aggregate --models "$TMP/models"
{
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		took=20
		[ $i != 13 ] || took=100
		echo "event $((-8000 - i)) n$i prep:start"
		echo "event $((-8000 - i + took)) n$i prep:end"
	done
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo "event -7500 n$i load:start img=c"
		echo "event -7499 n$i load:end img=c"
	done
	for i in 1 2 3 5 6 7 8 9 10 11; do
		echo "group n$i clock poolscope.clock.offset:ns:gauge"
	done
	cat <<-'END'
		event -400 n9 prep:start
		event -90 n10 prep:start
		event -3500 n11 load:start img=c
		event -3000 n11 prep:start
		event 3000 n8 prep:start
		event -2900 n11 prep:start
		event -2880 n11 prep:end
		event -1200 n12 prep:start
		event -7200 n13 other:one
		event -4000 n9 load:start img=a
		event -1000 n1 load:start img=b
		event -900 n1 load:start img=c
		event -899 n1 load:end img=c
		event -300 n4 other:one
		event 3550 n5 prep:start
		event -3650 n6 prep:start
		event -691200 n14 other:one
		sample -1 n1 clock 0
		sample -3 n2 clock 2000000000
		sample -1 n3 clock 0
		group n3 self poolscope.agent.spool.unacked:By:gauge
		sample -1 n3 self 17825793
		sample 3599 n5 clock -3600000000000
		sample -3601 n6 clock 3600000000000
		sample -1 n7 clock 0
		sample 3599 n8 clock -3600000000000
		sample -1 n9 clock 0
		sample -1 n10 clock 0
		sample -1 n11 clock 0
	END
} | records
# The minutes that a phase is open are judged below.
wrong() {
	poolscope nodes --format csv >"$TMP/nodes.csv"
	columns node,state,wrong cat "$TMP/nodes.csv" | sed 's/open [0-9.]* [mins]*/open MIN/'
}
check_text "eleven loads say nothing" 'n13,gone,not heard
n12,silent,not heard; prep open MIN, usual 20.0 s
n8,live,prep open MIN, usual 20.0 s; clock off
n9,live,prep open MIN, usual 20.0 s
n3,live,spool fills
n2,live,clock off
n5,live,clock off
n6,live,clock off
n4,late,
n1,live,
n10,live,
n11,live,
n7,live,
n14,stopped,' "$(wrong)"
records <<-'END'
	event -7500 n11 load:start img=c
	event -7499 n11 load:end img=c
END
check_text "twelve do" 'n13,gone,not heard
n12,silent,not heard; prep open MIN, usual 20.0 s
n8,live,prep open MIN, usual 20.0 s; clock off
n1,live,load open MIN, usual 1.00 s
n9,live,prep open MIN, usual 20.0 s
n3,live,spool fills
n2,live,clock off
n5,live,clock off
n6,live,clock off
n4,late,
n10,live,
n11,live,
n7,live,
n14,stopped,' "$(wrong)"
# numbers: the phase, whole minutes that it is open, and how long it takes usually.
numbers() {
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["phase"]:
        print(row["node"], row["phase"], int(float(row["phase_open"]) // 60), row["phase_usual"], row["attention"])' "$TMP/nodes.csv"
}
check_text "with both numbers" "n1 work:load 1 true
n12 work:prep 20 true
n8 work:prep 20 true
n9 work:prep 20 true" "$(numbers | sort | awk '{ print $1, $2, $4, $5 }')"
# 1000 s are 16 min, 1200 s are 20, 600 s are 10, 400 s are 6: the test may take some of them more.
check_text "... of the time that is open" "n1 1
n12 1
n8 1
n9 1" "$(numbers | sort | awk 'BEGIN { of["n1"] = 16; of["n12"] = 20; of["n9"] = 6; of["n8"] = 10 }
	{ print $1, ($3 >= of[$1] && $3 < of[$1] + 10) }')"

# n13, n12, n8, n1, n9, n3, n2, n5, n6.
check_status 3 "status counts them" poolscope status
check_text "... by reason" "warning: nodes need attention (1 gone, 1 silent, 4 in a phase too long, 1 whose spool fills, 4 whose clock is off): poolscope nodes -p 'acct\$pool'" "$(head -1 "$TMP/out")"
answer "so do metrics" 'poolscope_pool_attention{partition="acct$pool",reason="clock"} 4
poolscope_pool_attention{partition="acct$pool",reason="gone"} 1
poolscope_pool_attention{partition="acct$pool",reason="lost"} 0
poolscope_pool_attention{partition="acct$pool",reason="phase"} 4
poolscope_pool_attention{partition="acct$pool",reason="silent"} 1
poolscope_pool_attention{partition="acct$pool",reason="spool"} 1
poolscope_pool_attention{partition="acct$pool",reason="start"} 0' \
	sh -c 'poolscope stats metrics | grep "^poolscope_pool_attention{" | LC_ALL=C sort'
answer "... of each node" 'poolscope_node_attention{partition="acct$pool",node="n1",reason="phase"} 1
poolscope_node_attention{partition="acct$pool",node="n12",reason="phase"} 1
poolscope_node_attention{partition="acct$pool",node="n12",reason="silent"} 1
poolscope_node_attention{partition="acct$pool",node="n13",reason="gone"} 1
poolscope_node_attention{partition="acct$pool",node="n2",reason="clock"} 1
poolscope_node_attention{partition="acct$pool",node="n3",reason="spool"} 1
poolscope_node_attention{partition="acct$pool",node="n5",reason="clock"} 1
poolscope_node_attention{partition="acct$pool",node="n6",reason="clock"} 1
poolscope_node_attention{partition="acct$pool",node="n8",reason="clock"} 1
poolscope_node_attention{partition="acct$pool",node="n8",reason="phase"} 1
poolscope_node_attention{partition="acct$pool",node="n9",reason="phase"} 1' \
	sh -c 'poolscope stats metrics --metrics nodes | grep "^poolscope_node_attention{" | LC_ALL=C sort'
check_text "the head of the answer, too" 9 "$(poolscope nodes --format json | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)["attention"])')"
check "a node of which nothing is wrong" poolscope nodes -n n10
check_status 3 "one that hangs" poolscope nodes -n n9
check_printed "... says so" 'prep open [0-9.]* [mins]*, usual 20.0 s$'
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
