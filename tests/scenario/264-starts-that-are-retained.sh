#!/bin/sh
# Events are kept for 50 h, by whole hours.  A pool started 100 h ago (0), and once more around
# the begin of the oldest hour that is left (50 h = 180,000 s):
#
#	n1 begins at 0, is ready at 40			deleted, and with it its start
#	n1 begins at 179,970, is ready at 180,020	its begin is deleted: in no start
#	n2 begins at 180,010, is ready at 180,070	left: ready after 60 s
#
# Before that the second start has both nodes: begins 0 and 40, ready after 50 and 100 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" -ge 57 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 100 * 3600))
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
# node BEGIN READY NAME
node() {
	echo "event $1 $3 nodeprep:start"
	echo "event $(($1 + 2)) $3 nodeprep:end"
	echo "event $(($1 + 4)) $3 cascade:start"
	echo "event $2 $3 cascade:gr-done"
}
{
	node 0 40 n1
	node 179970 180020 n1
	node 180010 180070 n2
} | records
starts() {
	columns nodes,last_begin,first_ready,last_ready poolscope stats starts --format csv
}
answer "all is there" "2,40.0,50.0,100.0
1,0.0,40.0,40.0" starts
stop aggregator
aggregate --models "$ROOT/deploy/models" --retain 50h
is_deleted() {
	[ "$(poolscope-dump --kind event --node n1 | wc -l)" -lt 4 ]
}
check "what is old is deleted" wait_until is_deleted 30
answer "... with its start" "1,0.0,60.0,60.0" starts
stop aggregator
check "derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
answer "... it is the same" "1,0.0,60.0,60.0" starts
