#!/bin/sh
# What the overview says first: pools whose sentences are worked out by hand.
#
# acct$pool, in seconds after BASE, 2023-11-14 22:13:20: three starts.  In the first n1 to n6 prepare
# 0-100 (ready after 100 s) and pull "train" for 20 s, in the second they prepare 10000-10120 (120 s).
# In the third, from 20000 on, they prepare for 90 s, but n6 for 95 s, so the last is ready at 20095:
# 2023-11-15 03:48:15.  They pull "train" until 20110, 20 s or 15 s; n3 until 20190, 100 s.  The median of
# 15, 10 times 20, 100 is 20 s: n3 is +80 s.  That of 5 times 90, 95, 6 times 100, 6 times 120 is 100 s:
# nobody prepared for longer in the third start, and in the second one, from 10000 to 10200, for 20 s
# longer, which is not a quarter of it.  Job 17 begins on n1 and n2.
#
# acct$stuck: n1 to n13 prepare from 0 on, n13 without an end.  The others need 30 s.  n13 is heard at
# 300 for the last time: 300 s, usual 30 s, +270 s = 4.5 min.
#
# acct$even: 13 nodes prepare for 10 s each: none is slower.  Ten jobs run on n1: eight are named.
#
# acct$late: 12 nodes begin at 0, 1, ... 11 and prepare for 30 s; n13 begins at 300.  It is slow in no phase, but
# the pool had been ready at 41 without it, and is at 330.
#
# acct$farm: a run of 62 s, and no start.
#
# acct$used: n1 has 4 processors, of which 1 is used, 2 are idle and 1 waits for I/O; n2 has 8, of which 6
# are used.  n1 uses 1,000 KiB of 4,000, n2 3,000 of 8,000.  Samples are 10 s apart, for 60 s.  Together 7 of
# 12 processors and 4,000 of 12,000 KiB, 3.9 of 11.7 MiB, are used.
#
# `generate pool --nodes 10000`: the node in the middle is the slow one, and is in the text of the
# first screen, with the phase and the image.
#
# The pool of the demo: node _39 waited for tensorflow from 1508112517.684313 to 1508112633.404405, 115.720 s; in
# it are the loads of two other images, 4.948 s and 5.673 s, so that 105.1 s are of it alone.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

model_of_starts
cp "$ROOT/deploy/models/job.conf" "$ROOT/deploy/models/testrun.conf" "$ROOT/deploy/models/cascade.conf" "$TMP/models"
# What a node cost the pool is known only where a model says what waits for what.
model late <<-'END'
	phase "prepare" {
		start = "late:prepare"
		end = "late:prepared"
		required = true
	}
	phase "fetch" {
		start = "late:fetch"
		end = "late:fetched"
		after = { "prepare" }
	}
END
aggregate --models "$TMP/models"
PARTITION='acct$pool'
{
	three_starts train
	printf 'event 20200 %s job:start job=17\n' n1 n2
} | records
PARTITION='acct$stuck'
{
	for i in $(seq 12); do
		printf 'event %s n'"$i"' work:%s\n' 0 prepare 30 prepared
	done
	echo "event 0 n13 work:prepare"
	echo "event 300 n13 work:note"
} | records
PARTITION='acct$even'
{
	for i in $(seq 13); do
		printf 'event %s n'"$i"' work:%s\n' 0 prepare 10 prepared
	done
	for i in $(seq 10); do
		echo "event 20 n1 job:start job=$i"
	done
} | records
PARTITION='acct$late'
for i in $(seq 0 11) 300; do
	printf "event %s n$((i < 300 ? i + 1 : 13)) late:%s\\n" "$i" prepare $((i + 30)) prepared
done | records
PARTITION='acct$farm'
records <<-'END'
	event 0 n1 run:request run=a device_group=phones
	event 2 n1 run:queue_end run=a
	event 62 n1 run:publish run=a
END
PARTITION='acct$used'
awk 'BEGIN { for (n = 1; n <= 2; n++) {
	print "group n" n " cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge"
	print "group n" n " memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge"
	for (k = 0; k <= 6; k++) {
		print "sample " 10 * k " n" n " cpu 7 " (n == 1 ? 1000 : 6000) * k " " 2000 * k " " (n == 1 ? 1000 : 0) * k " " 4 * n
		print "sample " 10 * k " n" n " memory " 4096000 * n " " 1024000 * (2 * n - 1)
	}
} }' | records
start broker poolscope-broker || exit 1
check "a large pool" poolscope-generate pool --nodes 10000 -p 'big$ten'
check "the pool of the demo" poolscope-import cascade -p 'demo$recorded' "$ROOT/deploy/demo/render-60.jsonl" --quiet
wait_until indexed 60 || exit 1
page_start
page_judge overview.mjs ${SHOTS:+"$SHOTS"}
stop web
stop broker
stop aggregator
