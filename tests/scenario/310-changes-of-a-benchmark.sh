#!/bin/sh
# A benchmark ran 24 times, every 100 s: its entry took 2 s twelve times, then 3 s twelve
# times.  The level changed once, with the 13th start, 1200 s after the first: by
# 3 / 2 - 1 = 50 percent, from a median of 2 to one of 3.  Another entry always took 1 s.
#
# The entry of another test took 4 s twelve times, then 3 s twelve times: 25 percent less.  Of
# all changes that by 50 percent is the worst.  Both have 12 timings since, which are among the
# newest 12, not among the newest 11.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
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
for run in $(seq 0 23); do
	took=4
	[ "$run" -lt 12 ] || took=3
	echo '{"name": "other", "startTime": '"$(at $((run * 100)))"', "entries": {"entry": [
		{"name": "mul", "wallTime": '$took'}]}}' >"$TMP/data/other$run.json"
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
ALL="bench,add,50.0,12
other,mul,-25.0,12"
answer "all changes, the worst first" "$ALL" columns test,entry,percent,since poolscope-results changes --format csv
answer "... of a test" "other,mul,-25.0,12" columns test,entry,percent,since \
	poolscope-results changes other --format csv
answer "... the worst" "bench,add,50.0,12" columns test,entry,percent,since poolscope-results changes --top 1 --format csv
check_status 3 "changes of late" poolscope-results check --within 12 --format csv
check_printed "... are printed" 'bench,add,'
check "none of late" poolscope-results check --within 11
check_printed "... has a sentence" "^the level of none of 3 entries changed of late (--within)$"
check_status 4 "no timings decide nothing" poolscope-results check --from "$(at 9000)"
check_printed "... which is reported" "^no timings in that time$"
check_status 1 "a pool that there is not is not as fast as before" poolscope-results check -p 'acct$benhc'
check_printed "... and those that are near are named" "there is no partition acct.benhc"
check_status 1 "... nor one with --report" poolscope-stats compare -p 'acct$nope' --report junit
check_printed "... which is reported" "there is no partition acct.nope"
check_status 1 "... nor one with --drain" poolscope-stats stragglers -p 'acct$nope' --drain
check_printed "... which is reported" "there is no partition acct.nope"
check_status 3 "... of one entry" poolscope-results check bench add --within 12
check "... that has none" poolscope-results check bench sub --within 12
check_status 1 "a test that there is not" poolscope-results check none
check_printed "... is named" "no results of test 'none'"
wrong_usage "none at all" "--within takes a number from 4 on" poolscope-results check --within 0
wrong_usage "... or so few that none is found" "--within takes a number from 4 on" poolscope-results check --within 3
check_status 1 "an entry that there is not" poolscope-results changes bench mul
check_printed "... is named" "no entry 'mul'"
wrong_usage "changes have one order" "--oldest is for starts, timings, not for changes" \
	poolscope-results changes bench add --oldest
stop broker
stop aggregator
