#!/bin/sh
# A pool that starts twice, at 0 and at 2000.  The first event of some nodes, nodeprep:start, was lost.
# Of each node: when it begins, and the seconds of its preparation, its pull, and its global resources.
#
#	first	n1 at 0:     10 s, pull 20 s, 30 s
#		n2 at ?:     ends its preparation at 12, pull 8 s, 15 s
#		n3 at 2:     10 s, pull 5 s, 25 s
#	second	n1 at 2000:  10 s, pull 21 s, 31 s
#		n2 at 2001:  10 s, pull 9 s, 16 s
#		n3 at ?:     ends its preparation at 2014, pull 6 s, 26 s
#		n4 at ?:     ends its preparation at 2015, pull 7 s, 27 s, and was not in the first start
#	n5 began at 3 in the first start, for 10 s, and pulls an image of a job at 2500, for 50 s: it did
#	not begin again, so it is in the first start only.
#
# Each is in its start; what n3 pulled in the second one is no part of the first.
# From 1900 on is a time, not a start: then only nodes are listed that are known to have begun there.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
# node NAME BEGIN END PULL GLOBAL: BEGIN may be "-", END is that of its preparation.
node() {
	[ "$2" = - ] || echo "event $2 $1 nodeprep:start"
	echo "event $3 $1 nodeprep:end"
	echo "event $3 $1 cascade:start"
	echo "event $3 $1 cascade:pull-start img=redis:3"
	echo "event $(($3 + $4)) $1 cascade:pull-end img=redis:3"
	echo "event $(($3 + $5)) $1 cascade:gr-done"
}
{
	node n1 0 10 20 30
	node n2 - 12 8 15
	node n3 2 12 5 25
	node n5 3 13 4 14
	node n1 2000 2010 21 31
	node n2 2001 2011 9 16
	node n3 - 2014 6 26
	node n4 - 2015 7 27
	echo "event 2500 n5 cascade:pull-start img=job"
	echo "event 2550 n5 cascade:pull-end img=job"
} | records
cascade() {
	columns node,after,nodeprep,pull,global_resources_loaded poolscope-stats cascade --format csv "$@"
}
lacking() {
	poolscope-stats cascade --format json "$@" | /usr/bin/python3 -c '
import json, sys
print(*[row["node"] + " " + row["event"] for row in json.load(sys.stdin)["incomplete"]], sep="\n")'
}
answer "the second start" "n1,0.0,10.0,21.0,31.0
n2,1.0,10.0,9.0,16.0
n3,,,6.0,26.0
n4,,,7.0,27.0" cascade
answer "... what is lost is listed" "n3 nodeprep:start
n4 nodeprep:start" lacking
answer "the first start" "n1,0.0,10.0,20.0,30.0
n3,2.0,10.0,5.0,25.0
n5,3.0,10.0,54.0,14.0
n2,,,8.0,15.0" cascade --start 2023-11-14T22:13:20Z
answer "... what is lost is listed, too" "n2 nodeprep:start" lacking --start 2023-11-14T22:13:20Z
answer "a time is no start" "n1,0.0,10.0,21.0,31.0
n2,1.0,10.0,9.0,16.0" cascade --from 1700001900
check "a picture of it" poolscope-plot cascade -o "$TMP/cascade.svg"
