#!/bin/sh
# Starts of a pool, each of one node that is prepared, one every 10,000 s: nine that took 100,
# 101 ... 108 s, then five of 110, 111 ... 114 s.
#
# Each new one is above each old one.  Of the 14 x 13 x 12 x 11 x 10 / 120 = 2,002 ways to choose
# the five among all, one is so: less than one in 2,000, so there is a change.  A second is as
# far but for one pair, and both are still less than one in 1,000; two more are two pairs away.  So
# the ratio is from the second of the 45 ratios, 111 / 108 = 1.0278 (the first is 110 / 108), to
# the last but one, 113 / 100 = 1.13; the medians are 104 and 112, and the middle ratio is theirs:
# 7.7 % more.
#
#	worse by 1 %: yes; by 2 %: yes; by 3 %: cannot be decided
#	the other way round (the five are old, the nine new): from 100 / 113 = 0.8850 to 108 / 111
#		= 0.9730, better
#	four new with ten old ones: 14 x 13 x 12 x 11 / 24 = 1,001 ways.  One is less than one in
#		1,000, so there are limits, 111 / 110 and 114 / 100; it is more than one in 2,000,
#		so that a change is not sure, and the lower limit is 1.
#	four with eight: 12 x 11 x 10 x 9 / 24 = 495 ways, too few to say anything.  Of as many on
#		both sides 7 are the least: 14 choose 7 is 3,432, 12 choose 6 is 924.
#
# Before them three starts were of two nodes: they are not like these.  After them one began
# that has not ended.
#
# All old starts pulled nothing; a second pool pulled an image, a, nine times in 10 s, then in
# five starts in 20 s: 20 / 10 = 2 times as long, which explains, but does not decide.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model_of_starts
aggregate --models "$TMP/models"

# start NUMBER SECONDS [NODE]
prepared() {
	echo "event $(($1 * 10000)) ${3:-n1} work:prepare"
	echo "event $(($1 * 10000 + $2)) ${3:-n1} work:prepared"
}
{
	for i in 0 1 2; do
		prepared $i 50
		prepared $i 50 n2
	done
	for i in 3 4 5 6 7 8 9 10 11; do prepared $i $((97 + i)); done
	for i in 12 13 14 15 16; do prepared $i $((98 + i)); done
	prepared 17 10
	echo "event 170000 n2 work:prepare"
} | records

READY="1.0278 1.1300 104.0000 112.0000 9 5"
PREPARED="p50:work:prepare worse $READY -"
answer "worse" "ready worse $READY -
$PREPARED" compared 3 poolscope-stats compare --format csv
check "... the unlike are counted" grep -q '3 older runs are not compared' "$TMP/notes"
check "... and the one that did not end" grep -q '1 run failed or did not end' "$TMP/notes"
answer "by more than 2 %" "ready worse $READY -
$PREPARED" compared 3 poolscope-stats compare --format csv --worse 2%
check_status 4 "by more than 3 % is undecided" poolscope-stats compare --worse 3%
BACK="0.8850 0.9730 112.0000 104.0000 5 9 -"
list() {
	for i in "$@"; do printf '%s %s ' "$OPTION" "$(at $((i * 10000)))"; done
}
OLD=$(OPTION=--base list 12 13 14 15 16)
NEW=$(OPTION=--with list 3 4 5 6 7 8 9 10 11)
# shellcheck disable=SC2086 # words
answer "the other way round" "ready better $BACK
p50:work:prepare better $BACK" compared 0 poolscope-stats compare --format csv $OLD $NEW
answer "chance may have made it" "ready undecided 1.0000 1.1400 104.5000 112.5000 10 4 7
p50:work:prepare worse 1.0000 1.1400 104.5000 112.5000 10 4 -" \
	compared 4 poolscope-stats compare --format csv --with last:4
answer "too few" "ready undecided - - 105.5000 112.5000 8 4 7
p50:work:prepare worse - - 105.5000 112.5000 8 4 -" \
	compared 4 poolscope-stats compare --format csv --with last:4 --base last:8
check_status 4 "as a sentence" poolscope-stats compare --with last:4 --base last:8 --columns metric,says
check_printed "... of how many decide" "about 7 of each would decide"
check_status 3 "all that there are, like or not" poolscope-stats compare --mixed --base last:9 --worse 1%
check_status 4 "a run that there is not" poolscope-stats compare --with 2001-01-01
check_printed "... is named" "there is no run '2001-01-01' that has ended well"
wrong_usage "no number" "last: takes a number from 1" poolscope-stats compare --base last:0
wrong_usage "no per cent" "is not from 0% to 1000%" poolscope-stats compare --worse 3
wrong_usage "a test of starts" "--entry go with --by result" poolscope-stats compare --test a

check_status 3 "JUnit" poolscope-stats compare --report junit -o "$TMP/junit.xml"
answer "... is XML with one failure" "1 1 0 starts of acct\$pool ready" /usr/bin/python3 -c '
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
case, = suite
assert case[0].tag == "failure" and "7.7 % more" in case[0].get("message"), tree.tostring(suite)
print(suite.get("tests"), suite.get("failures"), suite.get("skipped"), case.get("classname"), case.get("name").split(" of ")[0])' "$TMP/junit.xml"
check_status 3 "annotations" poolscope-stats compare --report github
check_printed "... of what is worse" "::error title=starts of acct\$pool::ready of 1 node: worse:"
check_status 4 "... of what is not decided" poolscope-stats compare --report github --with last:4
check_printed "... are warnings" "::warning title=starts of acct\$pool::ready of 1 node: undecided:"

check "the verb" poolscope compare --help
mkdir "$TMP/none"
check_status 4 "a store that there is not" poolscope-stats compare --with-store "$TMP/none"
check_printed "... is named, and the old ones are there" "$TMP/none"

PARTITION='acct$pulls'
export POOLSCOPE_PARTITION="$PARTITION"
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	took=10
	[ $i -lt 9 ] || took=20
	prepared $i 100
	echo "event $((i * 10000)) n1 work:pull img=a"
	echo "event $((i * 10000 + took)) n1 work:pulled img=a"
done | records
answer "what explains has no status" "ready same 1.0000 1.0000 100.0000 100.0000 9 5 -
p50:work:prepare  1.0000 1.0000 100.0000 100.0000 9 5 -
p50:work:pull worse 2.0000 2.0000 10.0000 20.0000 9 5 -" compared 0 poolscope-stats compare --format csv

# Three nodes pull a in 4 s and b in 20 s, in new starts one of them a in 8 s: half of the nodes need 24 s or less in
# both.  Of all pulls together the median would be 12 s, and 14 s.
PARTITION='acct$images'
export POOLSCOPE_PARTITION="$PARTITION"
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	for n in n1 n2 n3; do
		took=4
		[ $i -lt 9 ] || [ $n != n3 ] || took=8
		prepared $i 100 $n
		echo "event $((i * 10000)) $n work:pull img=a"
		echo "event $((i * 10000 + took)) $n work:pulled img=a"
		echo "event $((i * 10000 + 30)) $n work:pull img=b"
		echo "event $((i * 10000 + 50)) $n work:pulled img=b"
	done
done | records
answer "one node of three is not the median, whichever the images" "ready same 1.0000 1.0000 100.0000 100.0000 9 5 -
p50:work:prepare  1.0000 1.0000 100.0000 100.0000 9 5 -
p50:work:pull  1.0000 1.0000 24.0000 24.0000 9 5 -" compared 0 poolscope-stats compare --format csv
check_status 4 "nothing to compare with" poolscope-stats compare --base "$(at 0)" --with "$(at 990000)"
check_printed "... has a sentence" "^there is nothing to compare with: 7 old and 7 new runs, or 9 and 5, are the least"
check_printed "... and numbers have a unit" "^starts of acct.images: 0 new and 1 old, in seconds, worse from 1 % on: undecided$"
stop aggregator
