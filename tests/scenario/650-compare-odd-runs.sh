#!/bin/sh
# A benchmark whose timings are what no duration is, one every 100 s: 2, 3, NaN, infinity, less than
# none, -3, 0, a word, and then 4, 5, 6.  Those that are numbers above 0 are compared; two are 0
# or less, and four are no number.
#
# Test runs: the first ends before it begins, so nobody knows how long it took; the second takes no time;
# the third, in the year 2182, takes 7 s, and the last 14 s, on a clock that says 2023.  The newest is that
# of 2182.
#
# One run that is named twice is one; named as old and new it is new, and not compared with itself.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
i=0
for took in 2 3 NaN Infinity -Infinity -3 0 '"soon"' 4 5 6; do
	echo '{"name": "bench", "startTime": '"$(at $((i * 100)))"', "entries": {"entry": [
		{"name": "add", "wallTime": '"$took"'}]}}' >"$TMP/data/$i.json"
	i=$((i + 1))
done
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
records <<-'END'
	event 300 n1 run:request run=back
	event 300 n1 run:queue_end run=back
	event 200 n1 run:publish run=back
	event 400 n1 run:request run=none
	event 400 n1 run:queue_end run=none
	event 400 n1 run:publish run=none
	event 5000000000 n1 run:request run=future
	event 5000000001 n1 run:queue_end run=future
	event 5000000007 n1 run:publish run=future
	event 1000 n1 run:request run=last
	event 1001 n1 run:queue_end run=last
	event 1014 n1 run:publish run=last
END
results() {
	_exit=$1
	shift
	compared "$_exit" poolscope-stats compare --by result --test bench --format csv "$@"
}
answer "durations" "add undecided - - 2.5000 5.0000 2 3 7" results 4 --with last:3
check "... what is none is counted" grep -q '6 durations of 0 or less, or no number: not compared' "$TMP/notes"
FIRST=$(at 0)
LAST=$(at 1000)
answer "named twice" "add undecided - - 2.0000 6.0000 1 1 7" results 4 --base "$FIRST" --base "$FIRST" --with "$LAST"
check_text "... is one that there is" "" "$(grep 'there is no' "$TMP/notes")"
answer "old and new" "add undecided - - - 2.0000 0 1 -" results 4 --base "$FIRST" --with "$FIRST"
check "... is not compared with itself" grep -q '1 run is old and new: not compared with itself' "$TMP/notes"
answer "none of the names" "" results 4 --base 2001-01-01 --with 2002-02-02
check "... is reported of the old" grep -q -e "--base: there is no run '2001-01-01'" "$TMP/notes"
check "... and of the new" grep -q -e "--with: there is no run '2002-02-02'" "$TMP/notes"

check_status 4 "runs" poolscope-stats compare --by run --with last:1 --columns metric,old,new --format csv
check_printed "... of a clock that is ahead, to the last digit" "^testrun,14.0,7.0$"
check_printed "... and one that took no time" "1 duration of 0 or less"
check_printed "... and one that ended before it began" "1 run failed or did not end"
check "... which has no say" test "$(grep -c '^run,' "$TMP/out")" = 0
wrong_usage "the newest and one" "'last:5': last: stands alone" poolscope-stats compare --base last:5 --base "$FIRST"
wrong_usage "a number of another kind" "is not from 0% to 1000%" poolscope-stats compare --worse 0x1p1%
wrong_usage "no number" "is not from 0% to 1000%" poolscope-stats compare --worse nan%
stop broker
stop aggregator
