#!/bin/sh
# What is usual is what the last 20 starts took, by key where 12 values are known of it.
#
# A pool started 25 times, each 1000 s after the one before, the last time at -1000.  In each start a and
# b prepare for 1 s, and a loads image x: for 500 s in the first five, for 10 s in the last 20.
# b loads image p for 300 s in 12 of the last 20 starts, and image q for 8 s in 11 of them and in the
# first five: 16 values in all, but 11 in the last 20 starts.
#
# So of the last 20 starts there are:  x 20 times 10;  p 12 times 300;  q 11 times 8, too few; and
# of loads of any image 43: 11 times 8, 20 times 10, 12 times 300: the 22nd is 10, and the 99th
# percentile, the 43rd, is 300.
#	x       usual 10, longer above 30 s
#	p       usual 300, longer above 900 s
#	q       as any load: usual 10, longer above 300 s
# In the last start are also c to g, each with a load that has no end: c and g of x since -36, d of p since
# -201, e of q since -351, f of p since -951.  c, g, e and f are longer than usual, d is not.  All were
# heard at -1, so that c and g took 35 s until then, 25 s more than usual; e 350 s, 340 s more; f 950 s,
# 650 s more; d, 200 s, was faster than usual.  Of all 25 starts x would have a 99th percentile of 500 s,
# so that c were not longer than usual, and q would have a median of 8.
# b loads q once more in the last start, for 8 s: 12 values, usual 8: e is 342 s above that.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

model_of_loads
aggregate --models "$TMP/models"
# load NODE IMAGE FROM TO
load() {
	printf 'event %s %s load:start img=%s\n' "$3" "$1" "$2"
	[ "$4" = - ] || printf 'event %s %s load:end img=%s\n' "$4" "$1" "$2"
}
{
	for k in $(seq 1 25); do
		at=$((-26000 + 1000 * k))
		nodes="a b"
		[ "$k" != 25 ] || nodes="a b c d e f g"
		for node in $nodes; do
			printf 'event %s %s prep:start\nevent %s %s prep:end\n' "$at" "$node" $((at + 1)) "$node"
		done
		load a x $((at + 10)) $((at + (k > 5 ? 20 : 510)))
		[ "$k" -le 5 ] || [ "$k" -gt 17 ] || load b p $((at + 10)) $((at + 310))
		[ "$k" -gt 16 ] || load b q $((at + 400)) $((at + 408))
	done
	load c x -36 -
	load d p -201 -
	load e q -351 -
	load f p -951 -
	load g x -36 -
	for node in a b c d e f g; do
		echo "event -1 $node other:one"
	done
} | records
judged() {
	poolscope nodes --format csv >"$TMP/nodes.csv"
	columns node,phase,phase_key,phase_usual cat "$TMP/nodes.csv" | grep work: | sort
}
slow() {
	columns node,key,time,usual,usual_of,of,above,open poolscope-stats slow --format csv "$@"
}
answer "longer than usual" "c,work:load,x,10
e,work:load,,10
f,work:load,p,300
g,work:load,x,10" judged
answer "slower by as much" "f,p,950,300,key,12,650,true
e,q,350,10,phase,43,340,true
c,x,35,10,key,20,25,true
g,x,35,10,key,20,25,true" slow
# nodes counts until now, which is later.
answer "... until their last records" "4 without an end: at least so long, to the last record of the node" \
	sh -c 'poolscope-stats slow | grep -o "[0-9]* without an end.*"'
judged_open() {
	poolscope nodes --format csv >"$TMP/nodes.csv"
	columns node,phase_open cat "$TMP/nodes.csv" | awk -F, -v now=$(($(date +%s) - BASE)) '
		$1 == "c" { print ($2 > 36 && $2 <= 36 + now + 1) }'
}
answer "nodes counts until now" 1 judged_open
load b q -500 -492 | records
answer "twelve values" "c,work:load,x,10
e,work:load,q,8
f,work:load,p,300
g,work:load,x,10" judged
answer "... here, too" "f,p,950,300,key,12,650,true
e,q,350,8,key,12,342,true
c,x,35,10,key,20,25,true
g,x,35,10,key,20,25,true" slow
# The first start took 490 s more than what is usual now.
FIRST=$(date -u -d "@$((BASE - 25000))" +%Y-%m-%dT%H:%M:%SZ)
answer "of an older start" "a,x,500,10,key,20,490,false" slow --start "$FIRST"
# Each time is that of one start: a took 10 s twenty times, not 200 s.
answer "of all starts" "f,p,950,300,key,12,650,true
e,q,350,8,key,12,342,true
c,x,35,10,key,20,25,true
g,x,35,10,key,20,25,true" slow --start all
check "... of the last ones" poolscope-stats slow --start all
check_printed "... which it says" "only the last 20 starts are compared"
