#!/bin/sh
# The critical path in a trace and in a picture.  First that of three_pulls, which
# 600-critical-path.sh works out:
#
#	0-1	began	x, in seconds after the start
#	1-3	in	x is prepared
#	3-5	wait	x
#	5-25	place	x pulls
#	25-27	wait	y
#	27-47	place	y pulls
#	47-49	wait	z
#	49-60	in	z pulls
#	60-62	end	z
#
# In the picture the rows are z, which begins at 0, then x and y, which begin at 1.
#
# Then that of the demo: its first node begins at 1508112352.386241, and the node 21 is ready last.
# Its events, in deploy/demo/render-60.jsonl, and the load, which took 16.371201 s by its own clock:
#
#	582.577642	nodeprep:start		230.191401 after the first
#	626.882202	nodeprep:end		 44.304560 later
#	629.870833	cascade:start		  2.988631
#	676.773050	torrent of app		 46.902217
#	773.641175	load of app		 96.868125
#	790.012376	loaded			 16.371201
#	790.369844	cascade:gr-done		  0.357468
#
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
cp "$ROOT/deploy/models/cascade.conf" "$TMP/models/"
start broker poolscope-broker || exit 1
aggregate --models "$TMP/models"
three_pulls | records
check "the demo" poolscope-import -q -p 'prodacct$render-60' cascade "$ROOT/deploy/demo/render-60.jsonl"
wait_until indexed 30

# traced OPTION...: the pieces of the path in a trace: when, how long and what, in seconds.
traced() {
	poolscope trace -q "$@" -o "$TMP/trace.json" && /usr/bin/python3 -c 'import json, sys
from decimal import Decimal
events = json.load(open(sys.argv[1]), parse_float=Decimal, parse_int=Decimal)["traceEvents"]
name = {(e["name"], e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["name"].endswith("_name")}
first = min((e for e in events if e["name"] == "process_sort_index"), key=lambda e: e["args"]["sort_index"])
for e in events:
    if e["ph"] == "X" and name["thread_name", e["pid"], e["tid"]] == "critical path":
        assert name["process_name", e["pid"], None] == "pool" and e["pid"] == first["pid"]
        print(*(f"{x / 1000000:.6f}".rstrip("0").rstrip(".") for x in (e["ts"], e["dur"])), e["name"], sep=",")' "$TMP/trace.json"
}

# is NAME WANTED FILE
is() {
	printf '%s\n' "$2" >"$TMP/wanted"
	check "$1" diff "$TMP/wanted" "$3"
}

places='0,1,began on x
1,2,in prep on x
3,2,wait pull redis on x
5,20,place pull redis on x
25,2,wait pull redis on y
27,20,place pull redis on y
47,2,wait pull redis on z
49,11,in pull redis on z
60,2,end resources on z'
traced >"$TMP/path"
is "in a trace" "$places" "$TMP/path"
traced --nodes worst:1 >"$TMP/path"
is "... of one node it is whole" "$places" "$TMP/path"
traced --from $((BASE + 4)) --to $((BASE + 26)) >"$TMP/path"
is "... of a time it is cut" '0,1,wait pull redis on x
1,20,place pull redis on x
21,1,wait pull redis on y' "$TMP/path"
traced --kind event >"$TMP/path"
check "... without phases it is not there" test ! -s "$TMP/path"

# drawn OPTION...: the lines in a picture: seconds, row and whether they are dashed (1), or go from
# row to row (2).
drawn() {
	poolscope plot phases -q --no-png --model pool -o "$TMP/pictures" "$@" &&
		sed -n '/^\$path << EOD$/,/^EOD$/p' "$TMP"/pictures/*-phases.plot | awk 'NF == 3 && $1 != "$path" { print $1 + 0, $2, $3 }'
}
drawn >"$TMP/line"
is "in a picture" "0 2 1
1 2 1
1 2 0
3 2 0
3 2 1
5 2 1
5 2 0
25 2 0
25 2 2
25 3 2
25 3 1
27 3 1
27 3 0
47 3 0
47 3 2
47 1 2
47 1 1
49 1 1
49 1 0
60 1 0
60 1 0
62 1 0" "$TMP/line"
check_text "... its words say so" 1 "$(grep -c 'What 3 nodes did when.* path to ready: node z, 62[.]0 s[.]"' "$TMP"/pictures/*-phases.plot)"
drawn -n x,z >"$TMP/line"
is "... where a node is not shown there is none" "0 2 1
1 2 1
1 2 0
3 2 0
3 2 1
5 2 1
5 2 0
25 2 0
47 1 1
49 1 1
49 1 0
60 1 0
60 1 0
62 1 0" "$TMP/line"

node=tvm-1392786949_21-20171014t165320z app=myreg.azurecr.io:443/team/app:v1.0.3
traced -p 'prodacct$render-60' >"$TMP/path"
is "of the demo" "0,230.191401,began on $node
230.191401,44.30456,in nodeprep on $node
274.495961,2.988631,wait global-resources on $node
277.484592,46.902217,wait torrent $app on $node
324.386809,96.868125,in torrent $app on $node
421.254934,16.371201,in load $app on $node
437.626135,0.357468,end global-resources on $node" "$TMP/path"
