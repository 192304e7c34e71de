#!/bin/sh
# A benchmark was started 16 times, one every 100 s.  Its entry add took 100, 101 ... 107 s, then eight
# times 120, 121 ... 127 s; sub took 100, 101 ... 107 s, and the same again.
#
# Both decide, so each must be twice as sure.  Of 16 x 15 ... x 9 / 40,320 = 12,870 ways to choose eight of 16,
# one has all above all, and as many have k pairs the other way round as there are ways to write k as a
# sum of numbers: 1, 2, 3, 5, 7.  So up to k pairs there are 1, 2, 4, 7, 12, 19.
#
#	add	is the clearest: all above all is less than a half of one in 2,000 (3.2 of 12,870), so there
#		is a change.  4 are less than a half of one in 1,000 (6.4), 7 are not: the limits are the third
#		ratio, (120 / 107, 121 / 107), 120 / 106 = 1.1321, and the last but two, 127 / 101 = 1.2574.
#	sub	then is alone: 12 are less than one in 1,000 (12.9), 19 are not: the fifth ratio, (100 / 107,
#		100 / 106, 101 / 107, 100 / 105), 101 / 106 = 0.9528, and the last but four, 1.0495.  Undecided by 1 %,
#		the same by 5 %, since 1 / 1.05 is 0.9524.  On its own it says the same.  They are
#		4.856 times as far from 1 as 1.01: 4.856^2 x 8 = 188.6 runs would decide.
#
# The other way round add is between 101 / 127 = 0.7953 and 106 / 120 = 0.8833.  Of the first twelve starts
# four are new and eight old, 495 ways: too few to say anything.  Where two decide, one of 4,000 is needed: 8 of each,
# as 14 choose 7 is 3,432.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
for run in $(seq 0 15); do
	add=$((100 + run))
	[ "$run" -lt 8 ] || add=$((112 + run))
	echo '{"name": "bench", "startTime": '"$(at $((run * 100)))"', "entries": {"entry": [
		{"name": "add", "wallTime": '$add'}, {"name": "sub", "wallTime": '$((100 + run % 8))'}]}}' >"$TMP/data/$run.json"
done
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
wait_until indexed 30

# results STATUS OPTION...
results() {
	_exit=$1
	shift
	compared "$_exit" poolscope-stats compare --by result --test bench --format csv "$@"
}
ADD="add worse 1.1321 1.2574 103.5000 123.5000 8 8 -"
SUB="0.9528 1.0495 103.5000 103.5000 8 8"
answer "worse by 5 %" "$ADD
sub same $SUB -" results 3 --with last:8 --worse 5%
answer "by 1 % the other is undecided" "$ADD
sub undecided $SUB 189" results 3 --with last:8
answer "one entry" "sub same $SUB -" results 0 --with last:8 --worse 5% --entry sub
answer "... undecided" "sub undecided $SUB 189" results 4 --with last:8 --entry sub
answer "too few" "add undecided - - 103.5000 121.5000 8 4 8
sub undecided - - 103.5000 101.5000 8 4 8" results 4 --with last:4 --to "$(at 1200)"
named() {
	for i in 0 1 2 3 4 5 6 7; do printf '%s %s ' "$1" "$(at $(($2 + i * 100)))"; done
}
# shellcheck disable=SC2046 # words
answer "better" "add better 0.7953 0.8833 123.5000 103.5000 8 8 -
sub same $SUB -" results 0 --worse 5% $(named --base 800) $(named --with 0)
stop broker
stop aggregator
