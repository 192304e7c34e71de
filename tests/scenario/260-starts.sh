#!/bin/sh
# A pool that starts twice, a day apart, and is made larger during the first start.  A node
# begins with nodeprep:start and is ready when nodeprep and global-resources have both ended:
# here at cascade:gr-done.  Pauses are at most 10 min, or less than that where they count.
#
#	the first day	n1 begins at 0, is ready at 100.  n2 begins at 30, is ready at 400.
#			The pool is made larger: n3 begins at 700, 300 s after the last sign
#			of n2 (its gr-done at 400), and is ready at 800.
#			Begins 0, 30, 700; ready after 100, 400, 800 s: three of three.
#	the second day	n1 begins at 86400, is ready 50 s later.  n2 begins 20 s later, prepares
#			until 40 s, begins its resources at 45 s, and is never ready.
#			Begins 0, 20; one of two is ready, after 50 s.  Years ago: incomplete.
#
# Late events: the agent of n4, which began at 60 on the first day and was ready at 90, sends
# them after all others: it joins the first start, whose first ready node it is, after 90 s.
#
# With a gap of 4 min n3 (300 s after a sign) is a start of its own, and n1, n2, n4 another:
# three starts in all.  Exactly 300 s are not longer than a gap of 5 min.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
# node BEGIN READY NAME: prepared after 5 s, its resources begin after 10 s.
node() {
	echo "event $1 $3 nodeprep:start"
	echo "event $(($1 + 5)) $3 nodeprep:end"
	echo "event $(($1 + 10)) $3 cascade:start"
	echo "event $(($1 + 12)) $3 cascade:pull-start img=redis:3"
	echo "event $(($1 + 15)) $3 cascade:pull-end img=redis:3"
	echo "event $2 $3 cascade:gr-done"
}
starts() {
	columns start,state,nodes,ready,again,last_begin,first_ready,last_ready,duration \
		poolscope stats starts --format csv "$@"
}
check_status 1 "before anything began" poolscope stats starts
check_printed "... says so" "there is no such partition"
# The second day comes first.
{
	node 86400 86450 n1
	echo "event 86420 n2 nodeprep:start"
	echo "event 86440 n2 nodeprep:end"
	echo "event 86445 n2 cascade:start"
	echo ----
	node 700 800 n3
	node 0 100 n1
	node 30 400 n2
} | records
SECOND=2023-11-15T22:13:20Z,incomplete,2,1,0,20.0,50.0,50.0,
answer "two starts" "$SECOND
2023-11-14T22:13:20Z,ready,3,3,0,700.0,100.0,800.0,800.0" starts
node 60 90 n4 | records
FIRST=2023-11-14T22:13:20Z,ready,4,4,0,700.0,90.0,800.0,800.0
answer "a late node joins the first" "$SECOND
$FIRST" starts
answer "the newest one" "$SECOND" starts --newest 1
answer "the longest first" "$FIRST
$SECOND" starts --sort duration
answer "a resize that is no pause" "$SECOND
$FIRST" starts --gap 5m
answer "a shorter gap parts them" "$SECOND
2023-11-14T22:25:00Z,ready,1,1,0,0.0,100.0,100.0,100.0
2023-11-14T22:13:20Z,ready,3,3,0,60.0,90.0,400.0,400.0" starts --gap 4m
answer "nodes that began until then" "2023-11-14T22:13:20Z,ready,3,3,0,60.0,90.0,400.0,400.0" \
	starts --to "$(at 700)"
answer "nodes that began since then" "$SECOND
2023-11-14T22:13:50Z,ready,3,3,0,670.0,60.0,770.0,770.0" starts --from "$(at 30)"
answer "as JSON" '{"question": "starts", "partition": "acct$pool", "from": null, "to": null, "model": "cascade", "clock": null, "gap": 600, "ready_share": 1.0, "rows": [{"start": "2023-11-15T22:13:20Z", "next": null, "state": "incomplete", "nodes": 2, "ready": 1, "again": 0, "last_begin": 20.0, "first_ready": 50.0, "last_ready": 50.0, "duration": null}], "notes": [{"key": "left_out", "count": 1, "text": "1 start is left out (--newest)"}], "complete": true}' \
	sh -c 'poolscope stats starts --newest 1 --format json | tr -d "\n" | sed "s/  */ /g; s/\([[{]\) /\1/g; s/ \([]}]\)/\1/g"'
check "as a table" poolscope stats starts
check_printed "... has the first" "^2023-11-14T22:13:20Z  *ready  *4  *4  *0  *700\.[0-9]*  *90\.[0-9]*  *800\.[0-9]*$"
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"

# The start of other answers.  The first has 4 phases of each sort, the second 2 preparations.
prepared() {
	columns count poolscope stats phases --name cascade:nodeprep --format csv "$@"
}
answer "phases of the first start" 4 prepared --start 2023-11-14T22:13:20Z
answer "... of the second" 2 prepared --start 2023-11-15T22:13:20.000Z
answer "... of the newest" 2 prepared --start now
answer "... of the one that had begun in between" 4 prepared --start "$(at 50000)"
answer "... of a part of it" 1 prepared --start "$(at 700)" --gap 4m
nodes_of() {
	columns node poolscope stats breakdown --sort node --format csv "$@"
}
answer "the nodes of the first" "n1
n2
n3
n4" nodes_of --start "$(at 0)"
answer "its nodes in the cascade" 4 sh -c \
	'poolscope stats cascade --start "$1" --format json | grep -c "\"docker_install\""' - "$(at 0)"
check "the trace of the second" poolscope trace --start now -o "$TMP/second.json"
check_text "... begins with it" 1 "$(grep -c '"base_ns": *"\{0,1\}1700086400000000000' "$TMP/second.json")"
check_text "... without the nodes of the first" 0 "$(grep -c 'n3' "$TMP/second.json")"
check "the picture of the second" poolscope plot cascade --start now --numbers --no-png -o "$TMP/plot"
check_text "... has its nodes" '["n1", "n2"]' "$(/usr/bin/python3 -c '
import json, sys
print(json.dumps([row["node"] for row in json.load(open(sys.argv[1]))["rows"]]))' "$TMP/plot/acct-pool.json")"
check_status 1 "a start before the first" poolscope stats phases --start "$(at -10)"
check_printed "... is an error" "the first start began later, at 2023-11-14T22:13:20.000Z"
wrong_usage "a start and a window" "start: is a window of its own" poolscope stats phases --start now --from -1h
wrong_usage "no pause" "gap: a pause has at least 1s" poolscope stats starts --gap 0
check_status 1 "a model without nodes" poolscope stats starts --model testrun
check_printed "... is an error" "no model testrun that requires phases"

stop aggregator
check "derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... they are the same" "$SECOND
$FIRST" starts
