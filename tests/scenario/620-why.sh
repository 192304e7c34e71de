#!/bin/sh
# What is reported of a pool, worked out by hand; of its nodes, runs and jobs; in 24 lines of 80 characters.
#
# acct$places: three nodes that pull one after another; the story of 600-critical-path.sh has the path, 601-what-if.sh
# what would have been.  By what the pieces are of: places 20 + 20, the pull of z 11, until a pull began 2 + 2 + 2, the
# preparation 2, the end of the resources after the pull 2, until the first node began 1: of these the four longest,
# and 3.0 are left.  With two places more it is ready 22 s earlier at best and, as all that run at once get no more than
# before, later at worst; half the pull is 25.5 s earlier, whatever; so that is reported.
#
# acct$disk: 14 nodes are prepared 0-10, then load for 20 to 24 s, n14 for 60 s, while its tasks wait for a disk 70 %
# of the time: 610-stragglers.sh has this pool.  acct$same: nothing differs.
#
# acct$jobs: n1 is prepared in 10 s.  Job 17 runs on n1 from 20 to 50, on n2 from 25 to 80.  Test run a takes 62 s,
# run b waits, run c ends with an error.
#
# acct$outer: n1 to n5 start three times; each is prepared 0-10, and its resources take 10-30, in which they load
# 12-28: 4 s are left.  In the third start n5 is prepared 0-12, its resources take 12-66, in which they load 12-32: 34 s
# are left.  20 s of load are above 16 s by a quarter, 12 s above 10 s by less.
#
# acct$live: a node that is heard, of which no model knows a start.  acct$places again, from a minute after its start on.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
cp "$ROOT/deploy/models/job.conf" "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate --models "$TMP/models"

# why NAME [OPTION...]: the sentences, without how old they are
why() {
	_pool=$1
	shift
	poolscope why "$@" -p "acct\$$_pool" --format csv --columns about,text >"$TMP/csv" || return
	/usr/bin/python3 -c 'import csv, re, sys
for about, text in list(csv.reader(open(sys.argv[1])))[1:]:
	print(about + ": " + re.sub(r", [^,]* before this answer", "", text))' "$TMP/csv"
}

PARTITION='acct$places'
three_pulls | records
wait_until indexed 30
answer "a pool that waited for places" "start: All 3 nodes are ready since 2023-11-14T22:14:22Z, 62.0 s after the first began.
path: 62.0 s until z was ready: 40.0 s for a place of pull of redis, which others had, 11.0 s pull of redis, 6.0 s until pull of redis began, 2.0 s prep, 3.0 s in what is shorter.
help: It would have been ready 25.5 s earlier had pull of redis taken half as long, all else being as it was.
nodes: Nothing was heard since 2023-11-14T22:14:22Z.
lost: No records were lost." why places
answer "... with the numbers" "start,,,62,
path,pool:pull,redis,62,
help,,,25.5,
nodes,,,,
lost,,,," columns about,phase,key,time,usual poolscope why -p 'acct$places' --format csv
check "... and what proves them" poolscope why -p 'acct$places' --format csv --columns command -o "$TMP/commands"
sed '1d; /^$/d; s/^"//; s/"$//' "$TMP/commands" >"$TMP/list"
check_text "..." 4 "$(wc -l <"$TMP/list")"
while IFS= read -r command; do
	check "... which runs: $command" sh -c "$command"
done <"$TMP/list"

# loads NAME SHARE: the share of the time that n14 waits for a disk; without: no samples
loads() {
	PARTITION="acct\$$1"
	awk -v share="$2" 'BEGIN { for (i = 1; i <= 14; i++) {
		node = sprintf("n%02d", i)
		print "event 0", node, "prep:start\nevent 10", node, "prep:end\nevent 10", node, "res:start"
		print "event 10", node, "load:start img=redis"
		length_ = i == 14 ? 60 : 20 + i % 5
		print "event", 10 + length_, node, "load:end img=redis\nevent", 10 + length_, node, "res:end"
		if (share == "") continue
		print "group", node, "pressure system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter system.linux.pressure.io.some:us:counter"
		for (t = -10; t <= 70; t++) {
			disk += i == 14 && t > 10 ? share : 0.1
			print "sample", t, node, "pressure", t + 50, 0, disk * 1e6
		} } }' CONVFMT=%.0f OFMT=%.0f | records
	wait_until indexed 30
}
# slow POOL [NODE]: what is reported of slow nodes
slow() {
	why "$@" | grep '^slow: '
}
loads disk 0.7
answer "a slow disk" "slow: n14: load of redis took 60.0 s, on its peers 22.0 s: tasks waited for a disk 70 % of the time, others 10 % (95 % of what it lost). That cost the pool 36.0 s." slow disk
loads same 0.1
answer "no cause is named where nothing differs" "slow: n14: load of redis took 60.0 s, on its peers 22.0 s: nothing that is measured differs. That cost the pool 36.0 s." slow same
loads none ""
answer "... nor where nothing is measured" "slow: n14: load of redis took 60.0 s, on its peers 22.0 s: there are no samples of the node in this time. That cost the pool 36.0 s." slow none

answer "a node" "start: n14 was ready 70.0 s after the start, 14 of 14 in this order, the median 32.0 s. Of what the pool waited for, 70.0 s were on it.
nodes: It is stopped and needs no attention.
slow: n14: load of redis took 60.0 s, on its peers 22.0 s: tasks waited for a disk 70 % of the time, others 10 % (95 % of what it lost). That cost the pool 36.0 s.
lost: No records were lost." why disk n14
answer "one that is not slow" "start: n03 was ready 33.0 s after the start, 9 of 14 in this order, the median 32.0 s.
nodes: It is stopped and needs no attention.
slow: Nothing of it was much slower than usual.
lost: No records were lost." why disk n03

terminal() {
	tmux -S "$TMP/tmux" -f /dev/null "$@"
}
terminal new-session -d -x 200 -y 24 "LC_ALL=C.UTF-8 poolscope-top -p 'acct\$disk'"
check "top has it next to the node" wait_until \
	'terminal capture-pane -p | grep -Eq "^n14 .* tasks waited for a disk 70 % of the time, others 10 % *$"'
terminal send-keys /  n14 Enter Enter
check "... and in all about it" wait_until \
	'terminal capture-pane -p | grep -Eq "^  why slow +tasks waited for a disk 70 % of the time, others 10 % *$"'
terminal kill-server

PARTITION='acct$outer'
awk 'BEGIN { for (s = 0; s < 3; s++) for (i = 1; i <= 5; i++) {
	last = s == 2 && i == 5; t = 7200 * s; node = "n" i
	print "event", t, node, "prep:start\nevent", t + (last ? 12 : 10), node, "prep:end"
	print "event", t + (last ? 12 : 10), node, "res:start\nevent", t + 12, node, "load:start img=redis"
	print "event", t + (last ? 32 : 28), node, "load:end img=redis\nevent", t + (last ? 66 : 30), node, "res:end"
} }' | records
wait_until indexed 30
answer "a phase around others" "n5,pool:resources,,34,4,true
n5,pool:load,redis,20,16,false
n5,pool:prep,,12,10,false" columns node,phase,key,time,usual,outer poolscope stats slow --by phase -p 'acct$outer' --format csv
answer "... is without them" "slow: n5 lost most: resources took 34.0 s, usually 4.00 s, without what began in it.
slow: n5: load of redis took 20.0 s, usually 16.0 s." slow outer n5

# A second job is of n1 and has not ended.
PARTITION='acct$jobs'
records <<-'END'
	event 0 n1 prep:start
	event 10 n1 prep:end
	event 20 n1 job:start job=17
	event 50 n1 job:stop job=17
	event 25 n2 job:start job=17
	event 80 n2 job:stop job=17
	event 60.25 n3 job:start job=short
	event 60.75 n3 job:stop job=short
	event 85 n1 job:start job=night-18
	span 30 34 n1 main step
	span 34 40 n1 main step
	span 90 95 n1 main step
	event 0 n1 run:request run=a device_group=phones
	event 2 n1 run:queue_end run=a
	event 62 n1 run:publish run=a
	event 70 n1 run:request run=b device_group=phones
	entity n1 run c device_group=phones error=no-device
END
answer "a job, with its spans: 4 and 6 s" "runs: Job 17 ran on 2 nodes from 2023-11-14T22:13:40Z to 2023-11-14T22:14:40Z, 60.0 s.
runs: Its spans, added up: 10.0 s step (each, the median 4.00 s).
lost: No records were lost." why jobs 17
answer "... of half a second" "runs: Job short ran on 1 node at 2023-11-14T22:14:20Z, 500.0 ms.
lost: No records were lost." why jobs short
answer "... that runs" "runs: Job night-18 runs on 1 node since 2023-11-14T22:14:45Z." sh -c 'poolscope why -p "acct\$jobs" night-18 --format csv --columns about,text | sed -n "s/,/: /; 2p"'
answer "a run that waits" "runs: Run b of group phones is queued. It began at 2023-11-14T22:14:30Z." why jobs b
answer "a run" "runs: Run a of group phones is finished. It began at 2023-11-14T22:13:20Z.
runs: Its time was: 62.0 s testrun (the median of its group 62.0 s)." why jobs a
answer "a run with an error" "runs: Run c of group phones ended with an error: no-device." why jobs c
answer "... which its pool leads to" "3 runs in 1 group: 1 finished, 1 with an error (50.0 % of those that ended), 0 ongoing, 1 queued." \
	sh -c 'poolscope why -p "acct\$jobs" --format csv --columns about,text,command | sed -n "s/^runs,\"\(.*\)\",.*/\1/p"'
failed=$(poolscope why -p 'acct$jobs' --format csv --columns about,command | sed -n 's/^runs,//p')
answer "... by its command" "c,no-device" sh -c "$failed --format csv --columns run,error_text | sed 1d"
check_status 1 "a name that is near" poolscope why -p 'acct$jobs' nite-18
check_printed "... is named" "partition acct.jobs has no node, run or job 'nite-18'; did you mean night-18?"
check_status 1 "none" poolscope why -p 'acct$jobs' xxxxxxxxxx
check_printed "... is near" "partition acct.jobs has no node, run or job 'xxxxxxxxxx'$"
check_status 2 "no name" poolscope why -p 'acct$jobs' ""
check_status 2 "two" poolscope why -p 'acct$jobs' n1 n2
check_status 1 "no pool" poolscope why -p 'acct$none' n1

answer "a time without a start" "records: $(poolscope dump -p 'acct$places' | wc -l) records of 3 nodes from 2023-11-14T22:13:20Z to 2023-11-14T22:14:22Z; no start of the pool began in this time, the newest began at 2023-11-14T22:13:20Z." sh -c 'poolscope why -p "acct\$places" --from 2023-11-14T22:14:20Z --format csv --columns about,text | sed -n "s/^records,/records: /; s/\"//g; 2p"'

PARTITION='acct$live'
NOW=$(date +%s)
(
	BASE=$NOW
	seq -f 'event -%g n1 other:one' 5 | records
)
wait_until indexed 30
shown() {
	date -u -d "@$((NOW - $1))" +%FT%TZ
}
answer "a pool that is heard, without a start" "records: $(poolscope dump -p 'acct$live' | wc -l) records of 1 node from $(shown 5) to $(shown 1); no start of the pool is known.
nodes: The node needs no attention.
lost: No records were lost." why live

# Names of 255 characters, with blanks, quotes, letters of two columns, and marks that turn the text around.
PARTITION='acct$wide it'\''s'
LONG=$(printf '%0230d' 0)
{
	for i in 1 2 3; do
		phase "n$i$LONG" prep 0 $((i * 10))
		phase "n$i$LONG" res $((i * 10)) $((i * 100))
		phase "n$i$LONG" pull $((i * 11)) $((i * 90)) "im$LONG"
		echo "gap 100 110 n$i$LONG event full 3"
	done
	phase "$(printf '日%.0s' $(seq 80))" prep 0 500
} | records
wait_until indexed 30
check "long names" sh -c 'poolscope why -p "$1" >"$TMP/wide"' sh "$PARTITION"
check "... are in 24 lines of 80 columns" /usr/bin/python3 -c 'import sys, unicodedata
lines = open(sys.argv[1]).read().splitlines()
columns = lambda line: sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
print(len(lines), max(map(columns, lines)))
sys.exit(not 5 < len(lines) <= 24 or max(map(columns, lines)) > 80)' "$TMP/wide"
check "... and whole" /usr/bin/python3 -c 'import sys
text = open(sys.argv[1]).read()
assert ("n3" + sys.argv[2]) in text.replace("\n  ", ""), text' "$TMP/wide" "$LONG"
stop aggregator
