#!/bin/sh
# Of which time the page is: each view with each kind of time, against the terminal, and by hand.
#
# acct$pool, seconds before now: three starts of n1 and n2, which prepare
#
#	2 days ago	for 40 s each	depth of n1: 1, twice with 10 s between
#	7200 s ago	10 s and 20 s	3, twice, 100 s later
#	1800 s ago	4 s and 6 s	5, twice, 100 s later; 9, twice, 200 s ago; n1 pulls for 7 s, 300 s ago
#
# so that the preparations are 2 of 10 s together in the newest start and in the last hour, none in the
# last 15 min, 4 of 40 s in the last day, 6 of 120 s ever, and 2 of 30 s in the second start, as from
# 7250 s to 7000 s ago.  Each depth counts for 10 s: 5 and 9 are 7, 9 is 9, 3 5 9 are 5.67, 1 3 5 9 are
# 4.5, and 3.
#
# acct$farm: four runs, two days, 7200 s, 1800 s and 300 s ago; there are no starts.  acct$imported: three
# runs from files, of which no node is anything to look at.
#
# acct$machine has samples only.  The clock of acct$past is that of 1970.  Models job and testrun are
# loaded, but acct$pool has neither jobs nor runs.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "prepare" {
		start = "work:prepare"
		end = "work:prepared"
		required = true
	}
	phase "pull" {
		start = "work:pull"
		end = "work:pulled"
	}
END
cp "$ROOT/deploy/models/job.conf" "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate --models "$TMP/models"
# prepare NODE BEGIN SECONDS
prepare() {
	echo "event $2 $1 work:prepare"
	echo "event $(($2 + $3)) $1 work:prepared"
}
PARTITION='acct$pool'
{
	prepare n1 -172800 40
	prepare n2 -172800 40
	prepare n1 -7200 10
	prepare n2 -7200 20
	prepare n1 -1800 4
	prepare n2 -1800 6
	echo "event -300 n1 work:pull"
	echo "event -293 n1 work:pulled"
	echo "group n1 queue app.depth:{thing}:gauge"
	printf 'sample %s n1 queue %s\n' -172700 1 -172690 1 -7100 3 -7090 3 -1700 5 -1690 5 -200 9 -190 9
	echo "event -5 n2 work:note"
} | records
PARTITION='acct$farm'
for ago in 172800 7200 1800 300; do
	printf 'event %s n1 run:%s run=r%s device_group=phones\n' -$ago request $ago $((2 - ago)) queue_end $ago $((62 - ago)) publish $ago
done | records
PARTITION='acct$machine'
records <<-'END'
	group n1 queue app.depth:{thing}:gauge
	sample -20 n1 queue 1
	sample -10 n1 queue 2
END
PARTITION='acct$past'
{
	prepare n1 $((1000 - BASE)) 5
	prepare n2 $((1000 - BASE)) 9
} | records
check "runs in files" poolscope-generate testrun -q --runs 3 --base -1h -o "$TMP/farm"
check "... are imported" poolscope-import testrun -q "$TMP/farm" -p 'acct$imported' --broker "ipc://$DIR/run/intake.ipc"
wait_until indexed 60
page_start
page_judge time.mjs "$BASE" ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
