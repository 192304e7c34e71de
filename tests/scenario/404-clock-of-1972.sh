#!/bin/sh
# Now is 0.  Boards without a battery begin in the past: n1 of both pools sampled at
# -1,700,000,020 and -1,700,000,010 by its clock, 53 years ago, and measured that the aggregator is 1,700,000,000 s ahead:
# at -20 and -10.  One processor, which did something for 5 of the 10 s.  n2 of acct$pool has a right
# clock, and a sample of -15; the clock of n3 is ten years, 315,360,000 s, ahead: its sample of
# 315,359,990 was made at -10.  n4's clock is two days ahead, and nobody knows by how much: it was heard
# when that was received.
#
# All four are live; three clocks are known to be off or right.  What they sampled is of -20 to
# -10, not of 53 years; in the pool of n1 alone, too.  n1 used 5 of 10 s: 0.001389 h.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
CPU="poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge"
CLOCK="poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge"
n1() {
	cat <<-END
		group n1 cpu $CPU
		group n1 clock $CLOCK
		sample -1700000020 n1 clock 1700000000000000000 1000 0 0 1000 1 0
		sample -1700000010 n1 clock 1700000000000000000 1000 0 0 1000 1 0
		sample -1700000020 n1 cpu 7 100 0 1
		sample -1700000010 n1 cpu 7 600 500 1
	END
}
PARTITION='acct$alone'
n1 | records
PARTITION='acct$pool'
{
	n1
	cat <<-END
		group n2 cpu $CPU
		sample -15 n2 cpu 7 100 0 1
		group n3 cpu $CPU
		group n3 clock $CLOCK
		sample 315359990 n3 cpu 7 100 0 1
		sample 315359990 n3 clock -315360000000000000 1000 0 0 1000 1 0
		event 172800 n4 work:a
	END
} | records
# states PARTITION OPTION...: the state of each node, and what is wrong with it.
states() {
	poolscope-stats nodes -p "$@" --format csv --columns node,state,wrong | sed 1d | sort
}
ALL="n1,live,clock off
n2,live,
n3,live,clock off
n4,live,"
answer "the nodes of a pool" "$ALL" states 'acct$pool'
answer "of the last hour" "$ALL" states 'acct$pool' --from -1h
answer "one alone" "n1,live,clock off" states 'acct$alone'
answer "the pools" "acct\$alone,1,1
acct\$pool,4,4" columns partition,nodes,live poolscope-stats pools --format csv
answer "metrics" "4" sh -c 'poolscope-stats metrics --metrics nodes -p "acct\$pool" | grep -c "^poolscope_node_state{.*} 0\$"'
answer "top" "n1 n3 n2 n4" sh -c 'poolscope-top --once -p "acct\$pool" | sed -n "s/^\(n[0-9]\) *live.*/\1/p" | xargs'
# window TOPIC PARTITION: the seconds from the first to the last of its head, and its age in minutes.
window() {
	poolscope-stats "$1" -p "$2" | sed -n '1{s/^[^,]*, //;s/Z, from .*//p;}' | /usr/bin/python3 -c '
import datetime, sys
first, last = (datetime.datetime.fromisoformat(t.rstrip("Z") + "+00:00").timestamp() for t in sys.stdin.read().strip().split(" to "))
print(round(last - first), round((int(sys.argv[1]) - first) / 10))' "$BASE"
}
answer "the window of usage" "10 2" window usage 'acct$pool'
answer "of the pool of n1 alone" "10 2" window usage 'acct$alone'
answer "of samples" "10 2" window samples 'acct$alone'
answer "what n1 used" "0.001389" sh -c 'poolscope-stats usage -p "acct\$alone" --format json | /usr/bin/python3 -c "
import json, sys
print(\"%.6f\" % json.load(sys.stdin)[\"rows\"][0][\"cpu_hours_used\"])"'
