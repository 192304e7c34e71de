#!/bin/sh
# A pool that starts twice, 15 min apart, and a node of it that reboots in the middle of the
# first start.  Of each node: when it begins, and how many seconds its preparation, its global
# resources, its pull and its load take.
#
#	first start	n1 at 0:    10 s, 30 s (10 to 40), pull 20 s, load 4 s
#			n2 at 5:    20 s, 40 s (25 to 65), pull 30 s, load 6 s
#			n3 at 2:    begins a pull at 6, reboots, which nothing reports
#			n3 at 60:   12 s, 18 s (72 to 90), pull 10 s, load 2 s
#	second start	n1 at 900:   4 s,  8 s (904 to 912), pull 3 s, load 1 s
#			n2 at 901:   6 s, 12 s (907 to 919), pull 7 s, load 2 s
#
#	count, sum, max	the second	the first	all
#	nodeprep	2, 10, 6	3, 42, 20	5, 52, 20
#	pull		2, 10, 7	3, 60, 30	5, 70, 30
#	global		2, 20, 12	3, 88, 40	5, 108, 40
#
# What n3 had begun before its reboot has no end: one preparation, one pull, both in the first.
# Asked of all, a cascade has each node with its newest try: n1 and n2 of the second start, n3 of
# the first.  The bars: 0 to 90 in the first, 900 to 919 in the second, 0 to 919 of all.  Each
# node's time from its first phase with an end to its last: in the second 12 (900 to 912) and
# 18 s, in the first 40, 60 and 30 (60 to 90) s, of all 912, 914 (5 to 919) and 30 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
# node NAME BEGIN PREPARATION GLOBAL PULL LOAD
node() {
	echo "event $2 $1 nodeprep:start"
	echo "event $(($2 + 1)) $1 privateregistry:start"
	echo "event $(($2 + 2)) $1 privateregistry:end"
	echo "event $(($2 + $3)) $1 nodeprep:end"
	echo "event $(($2 + $3)) $1 cascade:start"
	echo "event $(($2 + $3 + 1)) $1 cascade:pull-start img=redis:3"
	echo "event $(($2 + $3 + 1 + $5)) $1 cascade:pull-end img=redis:3"
	echo "event $(($2 + $3 + 1 + $5)) $1 cascade:load-start img=redis:3"
	echo "event $(($2 + $3 + 1 + $5 + $6)) $1 cascade:load-end img=redis:3"
	echo "event $(($2 + $3 + $4)) $1 cascade:gr-done"
}
{
	node n1 0 10 30 20 4
	node n2 5 20 40 30 6
	echo "event 2 n3 nodeprep:start"
	echo "event 6 n3 cascade:pull-start img=redis:3"
	node n3 60 12 18 10 2
} | records
FIRST=2023-11-14T22:13:20Z SECOND=2023-11-14T22:28:20Z

# about QUESTION...: the start that an answer is of.
about() {
	poolscope stats "$@" --format json >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
of = json.load(open(sys.argv[1]))
print(of["start"], of["start_number"], of["starts"])' "$TMP/json"
}
counted() {
	columns phase,count,sum,max,open_starts poolscope stats phases --format csv "$@" |
		grep -E '^cascade:(nodeprep|pull|global)' | sort
}
startup() {
	columns node,global_resources_loaded,pull,load poolscope stats cascade --format csv "$@"
}
ends() {
	poolscope stats timeline --format json "$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
of = json.load(open(sys.argv[1]))
print(of["t0"], of["t1"], of["nodes"], sorted({row["node"] for row in of["rows"]}))' "$TMP/json"
}
totals() {
	columns node,begin,total poolscope stats breakdown --sort node --format csv "$@"
}

# One start: it is all there is.
answer "a pool with one start" "$FIRST 1 1" about phases
check "... as a table" poolscope stats phases
check_absent "... which names no other" "start of|all starts"
ONE="cascade:global-resources,3,88.0,40.0,0
cascade:nodeprep,3,42.0,20.0,1
cascade:pull,3,60.0,30.0,1"
answer "... the phases of it" "$ONE" counted
{
	node n1 900 4 8 3 1
	node n2 901 6 12 7 2
} | records

for question in phases cascade timeline breakdown; do
	answer "$question is of the newest start" "$SECOND 2 2" about "$question"
	answer "$question of the first one" "$FIRST 1 2" about "$question" --start "$FIRST"
	answer "$question of all starts" "None None None" about "$question" --start all
	answer "$question of a window" "None None None" about "$question" --from "$(at -1)"
	check "$question as a table" poolscope stats "$question"
	check_printed "... names its start" "; start of $SECOND, 2nd of 2, with 2 nodes$"
	check "$question as Markdown" poolscope stats "$question" --start "$FIRST" --format md
	check_printed "... names its start" "; start of $FIRST, 1st of 2, with 3 nodes$"
	check "$question of all as a table" poolscope stats "$question" --start all
	check_printed "... says so" "; all starts$"
	check "$question of the newest one" sh -c "poolscope stats $question --format json >$TMP/default &&
		poolscope stats $question --start newest --format json | cmp - $TMP/default &&
		poolscope stats $question --start now --format json | cmp - $TMP/default"
done

NEWEST="cascade:global-resources,2,20.0,12.0,0
cascade:nodeprep,2,10.0,6.0,0
cascade:pull,2,10.0,7.0,0"
ALL="cascade:global-resources,5,108.0,40.0,0
cascade:nodeprep,5,52.0,20.0,1
cascade:pull,5,70.0,30.0,1"
answer "phases of the newest start" "$NEWEST" counted
answer "... of the first" "$ONE" counted --start "$FIRST"
answer "... of a time in it" "$ONE" counted --start "$(at 400)"
answer "... of all" "$ALL" counted --start all
answer "... of a window of all" "$ALL" counted --from "$(at 0)" --to "$(at 2000)"
answer "the cascade of the newest start" "n1,8.0,3.0,1.0
n2,12.0,7.0,2.0" startup
answer "... of the first" "n1,30.0,20.0,4.0
n2,40.0,30.0,6.0
n3,18.0,10.0,2.0" startup --start "$FIRST"
answer "... of all: each node's newest try" "n3,18.0,10.0,2.0
n1,8.0,3.0,1.0
n2,12.0,7.0,2.0" startup --start all
answer "the timeline of the newest start" "$SECOND 2023-11-14T22:28:39Z 2 ['n1', 'n2']" ends
answer "... of the first" "$FIRST 2023-11-14T22:14:50Z 3 ['n1', 'n2', 'n3']" ends --start "$FIRST"
answer "... of all" "$FIRST 2023-11-14T22:28:39Z 3 ['n1', 'n2', 'n3']" ends --start all
answer "the time in phases of the newest start" "n1,0.0,12.0
n2,1.0,18.0" totals
answer "... of the first" "n1,0.0,40.0
n2,5.0,60.0
n3,60.0,30.0" totals --start "$FIRST"
answer "... of all" "n1,0.0,912.0
n2,5.0,914.0
n3,60.0,30.0" totals --start all
check_status 1 "before the first" poolscope stats phases --start "$(at -10)"
check_printed "... is an error" "the first start began later, at 2023-11-14T22:13:20.000Z"
wrong_usage "a start and a window" "start: is a window of its own" poolscope stats phases --start all --from -1h

# Pictures: how many durations a row has, and the greatest.
boxes() {
	rm -rf "$TMP/plot"
	poolscope plot "$@" --view distribution --no-png -o "$TMP/plot" >&2 || return
	awk '{ gsub(/"/, "") } $2 == "pull" { print $2, $3, $NF }' "$TMP"/plot/*-distribution.dat
}
for plot in phases cascade; do
	answer "plot $plot draws the newest start" "pull 2 7" boxes "$plot"
	check_text "... and names it" 1 "$(grep -c "Shown: start of $SECOND, 2nd of 2" "$TMP"/plot/*.plot)"
done
answer "plot phases draws the first" "pull 3 30" boxes phases --start "$FIRST"
answer "plot phases draws all" "pull 5 30" boxes phases --start all
check "the numbers next to a picture" poolscope plot cascade --numbers --no-png -o "$TMP/numbers"
check_text "... are of the same start" "$SECOND" "$(/usr/bin/python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["start"])' "$TMP/numbers/acct-pool.json")"
