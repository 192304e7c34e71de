#!/bin/sh
# Names of nodes, images, jobs, runs and pools, and texts, that give orders: to a language
# model, to a terminal, to GitHub, to who reads XML.  What is printed of them is data.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

orders() {
	/usr/bin/python3 "$ROOT/tests/attack/orders.py" "$@"
}
# prints VERB COMMAND...: what the command prints, whatever its status, is as VERB of orders.py has it.
prints() {
	_verb=$1
	shift
	"$@" >"$TMP/printed" 2>"$TMP/printed.err"
	if [ $? -gt 4 ] || ! orders lines "$TMP/printed.err" || ! orders "$_verb" "$TMP/printed" ${COUNT:+"$COUNT"}; then
		head -c 1000 "$TMP/printed" "$TMP/printed.err" | cat -v
		return 1
	fi
}

model work <<-'END'
	phase "prepare" {
		start = "work:prepare"
		end = "work:prepared"
		required = true
		after_any = { "pull" }
	}
	phase "pull" {
		start = "work:pull"
		end = "work:pulled"
		key = "img"
		places = 1
	}
END
cp "$ROOT/deploy/models/testrun.conf" "$ROOT/deploy/models/job.conf" "$TMP/models/"
aggregate --models "$TMP/models"

# A start of 20 nodes with plain names, and one of each odd name, which are slow; each pulls
# an image with an odd text as its name.  A job, spans and a run have such names, too.
# 14 runs of one group, a text, of which the last five are slower.
pool() {
	awk 'BEGIN {
		for (i = 0; i < 30; i++) {
			node = i < 20 ? "n" i : "@" i - 20 "@"
			print "----"
			print "event 0", node, "work:prepare"
			print "event", 20 + i % 3 + (i >= 20) * (60 + i), node, "work:prepared"
			print "event", 1, node, "work:pull img=@" i % 14 "@"
			print "event", 15 + i % 3 + (i >= 20) * (60 + i), node, "work:pulled img=@" i % 14 "@"
			print "event 1", node, "job:start job=@" i % 14 "@ user=@" i % 14 "@"
			print "event", 50 + i, node, "job:end job=@" i % 14 "@ user=@" i % 14 "@"
			print "span 1", 5 + i, node, "@" i % 10 "@ @" i % 10 "@ a=@" i % 14 "@"
		}
		print "event 500 n1 work:prepare"
		print "gap 0 1 n2 events full 7"
	}'
}
runs() {
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		echo "entity n1 run r$i device_group=@7@ configuration=@10@@11@@1@@6@@13@ requestor=@11@"
		echo "event $((i * 1000)) n1 run:request run=r$i"
		echo "event $((i * 1000)) n1 run:queue_end run=r$i"
		echo "event $((i * 1000)) n1 run:flash_start run=r$i"
		echo "event $((i * 1000 + 100 + i + (i > 8) * 50)) n1 run:flash_end run=r$i"
		echo "event $((i * 1000 + 200 + i + (i > 8) * 50)) n1 run:publish run=r$i"
	done
	i=0
	while [ $i -lt 10 ]; do
		echo "entity n1 run @$i@ device_group=@$i@ configuration=@1@ error=@$((10 + i % 4))@"
		echo "event $((i * 1000 - 20000)) n1 run:flash_start run=@$i@"
		echo "event $((i * 1000 - 19990)) n1 run:publish run=@$i@"
		i=$((i + 1))
	done
}
ODD=$(printf 'acct$a,b::c%%0A\342\200\256x')
pool | orders send "ipc://$DIR/run/intake.ipc" 'acct$orders'
runs | orders send "ipc://$DIR/run/intake.ipc" "$ODD"
wait_until '[ "$(poolscope stats pools --format csv --columns partition,records --quiet | wc -l)" = 3 ]' 30
wait_until indexed 30

orders names >"$TMP/names"
for pool in 'acct$orders' "$ODD"; do
	for topic in why "why --columns text,command" stragglers slow nodes critical timeline starts phases "phases --by key" usage spans runs groups \
		"compare --by run" "compare --by job" "compare --by start"; do
		# shellcheck disable=SC2086 # words
		check "$topic" prints lines poolscope stats $topic -p "$pool"
	done
	check "the live view" prints lines poolscope top --once -p "$pool"
	while IFS= read -r name; do
		check "why one" prints lines poolscope why -p "$pool" -- "$name"
	done <"$TMP/names"
	check "what else is asked for is refused by a line" prints lines poolscope why -p "$pool" -- "$(printf '\033[2J\n::error::x')"
done
COUNT=1
check "annotations" prints report poolscope stats compare --by run -p "$ODD" --report github
check "... of which one is an error" grep -q '^::error title=' "$TMP/printed"
check "JUnit" prints junit poolscope stats compare --by run -p "$ODD" --report junit
check "... of which one has failed" grep -q '<failure' "$TMP/printed"
check "by the Model Context Protocol" orders mcp 'acct$orders' "$ODD"
check "nothing ran" sh -c '! test -e x'
