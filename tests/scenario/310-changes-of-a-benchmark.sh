#!/bin/sh
# A benchmark ran 24 times, every 100 s: its entry took 2 s twelve times, then 3 s twelve
# times.  The level changed once, with the 13th start, 1200 s after the first: by
# 3 / 2 - 1 = 50 percent, from a median of 2 to one of 3.  Another entry always took 1 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
for run in $(seq 0 23); do
	took=2
	[ "$run" -lt 12 ] || took=3
	echo '{"name": "bench", "startTime": '"$(at $((run * 100)))"', "entries": {"entry": [
		{"name": "add", "wallTime": '$took'}, {"name": "sub", "wallTime": 1}]}}' >"$TMP/data/$run.json"
done
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
wait_until indexed 30

begun=$(at 1200 | awk '{ printf "%.0f", $1 * 1000000 }')
answer "the level changed once" "$begun,50.0,2.0,3.0" columns start_us,percent,before,after \
	poolscope-results changes bench add --format csv
answer "an entry without a change has none" "start_us" \
	poolscope-results changes bench sub --format csv --columns start_us
answer "... nor has the time before it" "start_us" \
	poolscope-results changes bench add --to "$(at 1200)" --format csv --columns start_us
answer "... nor have the newest starts" "start_us" \
	poolscope-results changes bench add --limit 12 --format csv --columns start_us
check_status 1 "an entry that there is not" poolscope-results changes bench mul
check_printed "... is named" "no entry 'mul'"
wrong_usage "changes have one order" "--oldest is for starts, timings, not for changes" \
	poolscope-results changes bench add --oldest
stop broker
stop aggregator
