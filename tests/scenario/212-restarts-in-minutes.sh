#!/bin/sh
# Counters that begin again.  All count 5 a second for an hour; n1 and n2 are sampled every 2 s,
# n3 and n4 every 10 s.  Those of n1 and n3 begin again at 90 s, in the middle of a minute; those
# of n2 and n4 at 120 s, where a minute ends.  n5 is as n2, but its machine was rebooted: its
# boot changes, too.  The samples at 90 and 120 s have 0.
#
# What was counted between the last sample before and the restart is not known, so that interval
# has no rate; all others have a rate of 5.  n1 has samples at 0 ... 3598: 1800, 1799 intervals,
# 1798 rates.  n3: 360, 359, 358.  There is no peak and no dip: least, greatest and mean are 5,
# and so is each minute.
#
# A gauge of the same samples rises by 1 each time, from 0: n1 to 1799, mean 899.5; n3 to 359,
# mean 179.5.
#
# The same holds when the hour is compacted, and when the samples are gone.  A bucket of a minute
# does not say how many of its intervals have no rate, so then those of n1 and n3 count, too:
# 1799 and 359.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n1 work poolscope.boot:1:gauge frames:1:counter level:1:gauge")
for node, period, at, boot in ("n1", 2, 90, 7), ("n2", 2, 120, 7), ("n3", 10, 90, 7), ("n4", 10, 120, 7), ("n5", 2, 120, 8):
    for t in range(0, 3600, period):
        late = t >= at
        print("sample", t, node, "work", boot if late else 7, 5 * (t - at) if late else 1000 + 5 * t, t // period)' | records

# numbers METRIC NODE: count, least, greatest and mean.
numbers() {
	columns count,min,max,mean poolscope-stats samples -m "$1" -n "$2" --format csv |
		awk -F, '{ print $1 + 0, $2 + 0, $3 + 0, $4 + 0 }'
}
minutes() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m frames -n "$1" --step 1m --from "$(at 0)" --to "$(at 3600)" --no-png -q \
		-o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
answers() {
	answer "$1: rates of n1" "$2 5 5 5" numbers frames n1
	answer "$1: rates of n3" "$3 5 5 5" numbers frames n3
	answer "$1: rates of n4" "358 5 5 5" numbers frames n4
	for node in n1 n2 n5; do
		[ $node = n1 ] || answer "$1: rates of $node" "1798 5 5 5" numbers frames $node
		answer "$1: level of $node" "1800 0 1799 899.5" numbers level $node
		answer "$1: minutes of $node" "60 5" minutes $node
	done
	for node in n3 n4; do
		answer "$1: level of $node" "360 0 359 179.5" numbers level $node
		answer "$1: minutes of $node" "60 5" minutes $node
	done
}
answers "an open hour" 1798 358
stop aggregator
check "the hour is compacted" poolscope-admin compact
answers "compacted" 1798 358
delete_samples
answers "rollups" 1799 359
check "the store is right" poolscope-admin verify
