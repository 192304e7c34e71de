#!/bin/sh
# Two nodes of one metric group count frames for two hours: n1 is sampled every 2 s, so its
# minutes are stored when the hour is compacted; n2 every 10 s, and its minutes are stored only
# before its samples are deleted.  Both count 10 a second in the first hour, and 30 a second
# from its end on: 10 t until 3600 s, then 36000 + 30 (t - 3600).
#
# n1 has samples at 0, 2 ... 7198: 3600 of them, 3599 rates, least 10, greatest 30, and a mean
# by time of (3600 x 10 + 3598 x 30) / 7198 = 143940 / 7198 = 19.9972.  n2 has samples at 0, 10
# ... 7190: 720, 719 rates, and a mean of (3600 x 10 + 3590 x 30) / 7190 = 143700 / 7190 =
# 19.9861.  Both have one interval that crosses the border of the hours; it belongs to no
# bucket, and yet to the answers.  Each minute has a rate of 10 or of 30: 60 of both.
#
# The answers are the same while the hours are open, compacted, and without samples.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n1 work poolscope.boot:1:gauge frames:1:counter")
for node, period in ("n1", 2), ("n2", 10):
    for t in range(0, 7200, period):
        print("sample", t, node, "work 7", 10 * t if t <= 3600 else 36000 + 30 * (t - 3600))' | records

rate() {
	columns count,min,max,mean poolscope-stats samples -m frames -n "$1" --format csv |
		awk -F, '{ printf "%d %d %d %.4f\n", $1, $2, $3, $4 }'
}
# minutes NODE: how often each rate of a minute comes.
minutes() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m frames -n "$1" --step 1m --from "$(at 0)" --to "$(at 7200)" --no-png -q \
		-o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
answers() {
	answer "$1: n1" "3599 10 30 19.9972" rate n1
	answer "$1: n2" "719 10 30 19.9861" rate n2
	answer "$1: minutes of n1" "60 10 60 30" minutes n1
	answer "$1: minutes of n2" "60 10 60 30" minutes n2
}
answers "open hours"
stop aggregator
check "the hours are compacted" poolscope-admin compact
answers "compacted"
delete_samples
answers "rollups"
check "the store is right" poolscope-admin verify
