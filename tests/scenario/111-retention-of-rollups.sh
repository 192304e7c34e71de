#!/bin/sh
# A node reported its load every 10 s for three hours, 73 hours ago: 1 in the first hour, 2
# in the second, 3 in the third: 1,080 samples.  --retain-raw is 10 h and --retain-1min 72 h.
# All samples are deleted, and the rollups of a minute of the first hour, too: one mean of
# an hour of 1, 60 of a minute of 2, and 60 of 3 are left.  Events have no option of their
# own: all three stay.
# Then --retain-1min is 71 h and --retain 72 h: the first hour goes as a whole, with its
# event, and of the second one mean of an hour is left.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" -ge 57 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 73 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n1 depth level:1:gauge")
for i in range(1080):
    print("sample", 10 * i, "n1 depth", 1 + i // 360)
for i in range(3):
    print("event", 3600 * i, "n1 work:start")' | records

# kept: samples, events, and how often each mean of a minute comes.
kept() {
	echo "samples $(poolscope-dump --kind sample --name depth | wc -l)"
	echo "events $(poolscope-dump --kind event | wc -l)"
	rm -rf "$TMP/plot"
	poolscope-plot samples -m level --from "$(at 0)" --to "$(at 10800)" --step 1m \
		--no-png -q -o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
answer "all is there" "samples 1080
events 3
60 1 60 2 60 3" kept
# retain ANSWER OPTION...: compact everything, delete what is old.
retain() {
	KEPT=$1
	shift
	stop aggregator
	check "all is compacted" poolscope-admin compact
	aggregate "$@"
	wait_until is_kept 30
	answer "what is left with $*" "$KEPT" kept
}
is_kept() {
	[ "$(kept)" = "$KEPT" ]
}
retain "samples 0
events 3
1 1 60 2 60 3" --retain-raw 10h --retain-1min 72h
retain "samples 0
events 2
1 2 60 3" --retain-raw 10h --retain-1min 71h --retain 72h
