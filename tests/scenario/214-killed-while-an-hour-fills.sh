#!/bin/sh
# Ten nodes with a level of k, node k, and a counter of k a second, are sampled every 2 s for an
# hour, in six pieces of 10 minutes.  After each piece the aggregator is killed (kill -9)
# as soon as it has acknowledged it, and started again with a short time to compaction: so it is
# killed while it indexes, and while it compacts.
#
# No sample is lost or counted twice: node k has 1800, all k, and 1799 rates, all k; 60 minutes
# of k.  The answers are those of the hour before it was compacted, after, and of its rollups.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

piece() {
	/usr/bin/python3 -c 'import sys
print("group n1 job poolscope.boot:1:gauge level:1:gauge frames:1:counter")
first = int(sys.argv[1])
for t in range(first, first + 600, 2):
    for k in range(1, 11):
        print("sample", t, "n%d" % k, "job 7", k, k * t)' "$1"
}
numbers() {
	columns count,min,max,mean poolscope-stats samples -m "$1" -n "$2" --format csv |
		awk -F, '{ print $1 + 0, $2 + 0, $3 + 0, $4 + 0 }'
}
minutes() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m "$1" -n "$2" --step 1m --from "$(at 0)" --to "$(at 3600)" --no-png -q \
		-o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
answers() {
	for k in 1 7 10; do
		answer "$1: level of n$k" "1800 $k $k $k" numbers level "n$k"
		answer "$1: rates of n$k" "1799 $k $k $k" numbers frames "n$k"
		answer "$1: minutes of n$k" "60 $k" minutes level "n$k"
		answer "$1: rates of minutes of n$k" "60 $k" minutes frames "n$k"
	done
}
for first in 0 600 1200 1800 2400 3000; do
	aggregate --compact-after 1s
	piece $first | send_records || exit 1
	stop aggregator KILL
done
# What was acknowledged is not indexed yet.
aggregate --compact-after 1h
check "all is indexed" wait_until indexed 30
answers "killed six times"
stop aggregator KILL
for round in 1 2 3; do
	aggregate --compact-after 1s
	sleep "0.$((round * 3))"
	stop aggregator KILL
	check "the store is right after round $round" poolscope-admin verify
	answers "killed in round $round"
done
check "the rest is compacted" poolscope-admin compact
answers "compacted"
delete_samples
answers "rollups"
