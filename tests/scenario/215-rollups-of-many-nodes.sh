#!/bin/sh
# Forty nodes of a group of 70 gauges, m01 to m70, for an hour.  Gauge i of node k is i + k / 8.
# The even nodes are sampled every 5 s, the odd ones every 20 s.  The last ten gauges are known
# of nodes from n31 on only: the samples of the others have 60 values.
#
# All means are i + k / 8: of m70 and n40 75, of m01 and n01 1.125, of m60 and n39 64.875.  Even
# nodes have 720 samples, odd ones 180.
#
# That is so before the hour is compacted, after, and when the samples are gone; then minutes
# are gone, too, and the hour is left.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n01 many", *["m%02d:1:gauge" % i for i in range(1, 71)])
for k in range(1, 41):
    for t in range(0, 3600, 5 if k % 2 == 0 else 20):
        if t % 900 == 0:
            print("----")
        print("sample", t, "n%02d" % k, "many", *[i + k / 8 for i in range(1, 71 if k > 30 else 61)])' | records

# numbers METRIC NODE: count, least, greatest and mean.
numbers() {
	columns count,min,max,mean poolscope-stats samples -m "$1" -n "$2" --format csv |
		awk -F, '{ print $1 + 0, $2 + 0, $3 + 0, $4 + 0 }'
}
# means METRIC NODE STEP: how often each mean of a step comes.
means() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m "$1" -n "$2" --step "$3" --from "$(at 0)" --to "$(at 3600)" --no-png -q \
		-o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
hours() {
	answer "$1: the hour of m70, n40" "1 75" means m70 n40 1h
	answer "$1: the hour of m01, n01" "1 1.125" means m01 n01 1h
	answer "$1: the hour of m60, n39" "1 64.875" means m60 n39 1h
}
answers() {
	hours "$1"
	answer "$1: m70, n40" "720 75 75 75" numbers m70 n40
	answer "$1: m01, n01" "180 1.125 1.125 1.125" numbers m01 n01
	answer "$1: m60, n39" "180 64.875 64.875 64.875" numbers m60 n39
	answer "$1: minutes of m70, n40" "60 75" means m70 n40 1m
	answer "$1: minutes of m01, n01" "60 1.125" means m01 n01 1m
	answer "$1: minutes of m60, n39" "60 64.875" means m60 n39 1m
}
answers "an open hour"
stop aggregator
check "the hour is compacted" poolscope-admin compact
check "the store is right" poolscope-admin verify
answers "compacted"
delete_samples
answers "rollups"
stop aggregator
check "the store is right without them" poolscope-admin verify
aggregate --retain-raw 7d --retain-1min 8d
minutes_are_gone() {
	[ "$(means m01 n01 1m)" = "1 1.125" ]
}
check "the minutes are deleted" wait_until minutes_are_gone 30
hours "hours"
