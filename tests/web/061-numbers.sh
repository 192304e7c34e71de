#!/bin/sh
# Which numbers the page shows: small pools, and what is on the screen worked out by hand.
#
# acct$map, of now: the depth of n1 is 1, of n2 2, of n3 1000; n4's was 5000 half an hour ago, since
# when it is silent; n5 has none.  So the greatest that is heard is n3 with 1,000; n4 is marked, n5
# is without a value.  Two drives: n1's hold 1 and 2 KiB, n2's one 2.5 KiB: n1 has the most, 3.0 KiB;
# of drive a n2.
# work:step of n1 took 10 s an hour ago, and 70 s just now; of n2 20 s an hour ago: in that hour n2
# has the most, of all times n1 with 80 s.
#
# acct$bars: n1 is in a phase from 0 to 100, n2 from 60 to 100: its bar is 40 % as long.
#
# acct$farm: four runs of a group: one finished, one ended with an error, two are going on: errors
# are 50 % of the ended, 25 % of all.  Ten runs of another took 1 to 10 s; the aggregator received
# all of their events at once.  So by the emitted times 9 s are the 90th percentile and 10 s the 99th, and
# the bar is of one colour from 5 to 9 s, of another up to 10 s; by the received ones all is less.
#
# acct$gaps: n1 is in two phases, n2 only in the first, n3 only in the second: three bars.  Of the second
# n3 has 100 s, n1 50 s, n2 none.
#
# acct$cards: 45 groups, g1 to g45, on a telephone 40 a page; in 11 of their names is "g1" or "g1" and a digit.
#
# acct$bench: 40 timings of 1 s, then 40 of 2 s: a step of +100 %, which is worse.
#
# A depth of 0.00002 has an exponent.  acct$share: a share from 0 to 1, whose axis has marks of one
# digit after the point, the last one "1.0".
#
# acct$lossy: 7 records were lost in the time of its answers; in that of acct$line none.
# acct$moving: 7 were lost in the last 15 min, 5 an hour before.
#
# acct$line: a value each 10 s, from 100 to 0 s ago: who drags over the first half of the picture gets
# the first half of the time.
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
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
	phase "rest" {
		start = "work:rest"
		end = "work:over"
	}
END
cp "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate --models "$TMP/models"
PARTITION='acct$map'
# Ahead, so that they stay live as long as this takes, also on a busy machine.
records <<-'END'
	group n1 queue app.depth:{thing}:gauge
	group n2 queue app.depth:{thing}:gauge
	group n3 queue app.depth:{thing}:gauge
	group n4 queue app.depth:{thing}:gauge
	group n1 tiny app.tiny:{thing}:gauge
	group n1 drive/a app.held:By:gauge
	group n1 drive/b app.held:By:gauge
	group n2 drive/a app.held:By:gauge
	sample 600 n1 queue 1
	sample 600 n2 queue 2
	sample 600 n3 queue 1000
	sample -1800 n4 queue 5000
	sample 600 n1 tiny 0.00002
	sample 600 n1 drive/a 1024
	sample 600 n1 drive/b 2048
	sample 600 n2 drive/a 2560
	event 600 n5 work:other
	event -3600 n1 work:start
	event -3590 n1 work:end
	event -3600 n2 work:start
	event -3580 n2 work:end
	event -10 n1 work:start
	event 60 n1 work:end
END
PARTITION='acct$bars'
records <<-'END'
	event 0 n1 work:start
	event 100 n1 work:end
	event 60 n2 work:start
	event 100 n2 work:end
END
PARTITION='acct$gaps'
records <<-'END'
	event 0 n1 work:start
	event 50 n1 work:end
	event 50 n1 work:rest
	event 100 n1 work:over
	event 0 n2 work:start
	event 100 n2 work:end
	event 0 n3 work:rest
	event 100 n3 work:over
END
PARTITION='acct$farm'
records <<-'END'
	event 0 n1 run:request run=a device_group=phones
	event 1 n1 run:queue_end run=a
	event 9 n1 run:publish run=a
	event 0 n1 run:request run=b device_group=phones
	event 1 n1 run:queue_end run=b
	event 9 n1 run:publish run=b error=true
	event 0 n1 run:request run=c device_group=phones
	event 1 n1 run:queue_end run=c
	event 0 n1 run:request run=d device_group=phones
	event 1 n1 run:queue_end run=d
END
for i in 1 2 3 4 5 6 7 8 9 10; do
	echo "event 0 n1 run:request run=t$i device_group=tablets"
	echo "event $i n1 run:publish run=t$i"
done | records
PARTITION='acct$cards'
for i in $(seq 45); do
	printf 'event %s n1 run:%s run=g'"$i device_group=g$i\n" 0 request 9 publish
done | records
mkdir "$TMP/bench" "$TMP/archive"
for i in $(seq 80); do
	echo "{\"name\": \"t\", \"startTime\": $((1700000000 + 3600 * i)), \"entries\": {\"entry\": [{\"name\": \"e\", \"wallTime\": $((1 + i / 41))}]}}" >"$TMP/bench/$i.json"
done
start broker poolscope-broker || exit 1
check "timings are uploaded" poolscope-upload results -p 'acct$bench' --target store -d "$TMP/bench" -a "$TMP/archive"
PARTITION='acct$line'
{
	echo "group n1 queue app.depth:{thing}:gauge"
	for i in 100 90 80 70 60 50 40 30 20 10 0; do
		echo "sample -$i n1 queue $i"
	done
} | records
PARTITION='acct$share'
{
	echo "group n1 part app.share:1:gauge"
	for i in 0 1 2 3 4 5 6 7 8 9 10; do
		/usr/bin/python3 -c 'import sys; print("sample", int(sys.argv[1]) * 10 - 100, "n1 part", int(sys.argv[1]) / 10)' $i
	done
} | records
PARTITION='acct$lossy'
records <<-'END'
	event -60 n1 work:start
	event -50 n1 work:end
	gap -40 -30 n1 event full 7
END
PARTITION='acct$moving'
records <<-'END'
	group n1 queue app.depth:{thing}:gauge
	sample 600 n1 queue 1
	gap -3600 -3590 n1 event full 5
	gap -290 -280 n1 event full 7
END
page_start
page_judge numbers.mjs "$BASE" ${SHOTS:+"$SHOTS"}
stop web
