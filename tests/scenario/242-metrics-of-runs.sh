#!/bin/sh
# A farm's test runs.  Of group phones: a waited, was flashed and published: finished.  b and c have
# left the queue, and are not published: ongoing.  d has been requested: queued.  e has left the
# queue, and ended with an error: it counts as that and as nothing else.  Of group tablets: f is
# queued.  g has an event, but no description: its group is not known; ongoing.
#
#	phones		1 queued (d), 2 ongoing (b, c), 1 finished (a), 1 with an error (e)
#	tablets		1 queued (f)
#	(unknown)	1 ongoing (g)
#
# Then c is published: 1 ongoing, 2 finished.  Another pool has the model, but no run: it has no
# series of runs.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 10 n1 run:request run=a device_group=phones
	event 20 n1 run:queue_end run=a
	event 30 n1 run:publish run=a
	event 10 n1 run:request run=b device_group=phones
	event 20 n1 run:queue_end run=b
	event 11 n1 run:request run=c device_group=phones
	event 21 n1 run:queue_end run=c
	event 12 n1 run:request run=d device_group=phones
	event 13 n1 run:request run=e device_group=phones error=burnt
	event 23 n1 run:queue_end run=e
	event 14 n1 run:request run=f device_group=tablets
	event 15 n1 run:queue_end run=g
END
PARTITION='other$pool'
records <<-'END'
	event 10 n1 work:a
END

# states: of each group, as its label has it.
states() {
	timeout 60 poolscope stats metrics "$@" >"$TMP/metrics" || return
	sed -n 's/^poolscope_runs{partition="acct$pool",model="testrun",group="\(.*\)",state="\(.*\)"} \(.*\)$/\1 \2 \3/p' \
		"$TMP/metrics" | grep -v ' 0$' | LC_ALL=C sort
}
answer "the states of runs" "(unknown) ongoing 1
phones error 1
phones finished 1
phones ongoing 2
phones queued 1
tablets queued 1" states
answer "... are those of the command" "phones 1 2 1 1
tablets 1 0 0 0" sh -c "poolscope stats groups --format csv >'$TMP/groups.csv' &&
/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row[\"group\"] in (\"phones\", \"tablets\"):
        print(*(row[name] for name in \"group queued ongoing finished errors\".split()))' '$TMP/groups.csv' | sort -u"
check_status 1 "a pool without runs has no series" grep -q 'poolscope_runs{partition="other' "$TMP/metrics"
PARTITION='acct$pool'
records <<-'END'
	event 40 n1 run:publish run=c
END
answer "one ends" "phones error 1
phones finished 2
phones ongoing 1
phones queued 1" sh -c "poolscope stats metrics >'$TMP/metrics'
sed -n 's/^poolscope_runs{.*group=\"phones\",state=\"\(.*\)\"} \(.*\)$/phones \1 \2/p' '$TMP/metrics' | LC_ALL=C sort"
