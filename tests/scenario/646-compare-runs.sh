#!/bin/sh
# Test runs of three groups of devices, seven of each and then seven more, one every 1,000 s.  They
# take, from request to publish:
#
#	g1	100, 101 ... 106 s, then 112, 113 ... 118 s
#	g2	100, 101 ... 106 s, then the same again
#	g3	112, 113 ... 118 s, then 100, 101 ... 106 s
#
# Of 14 x 13 x 12 x 11 x 10 x 9 x 8 / 5,040 = 3,432 ways to choose seven of 14, one has all above all: less
# than one in 2,000, so there is a change.  With one pair the other way round there is one more, with
# two there are two more: 2 are less than one in 1,000, 4 are more.  So the limits of the ratio are
# the second of the 49 ratios and the last but one:
#
#	g1	(112 / 106), 113 / 106 = 1.0660 ... 117 / 100 = 1.17, (118 / 100).  The 7 ratios of
#		(112 + i) / (100 + i) are between 118 / 106 = 1.113 and 1.12, the 21 with less above are
#		below 112 / 101 = 1.109, the others above 118 / 105 = 1.123, so that the middle one is
#		115 / 103: 11.7 % more.  Worse.
#	g3	1 / 1.17 = 0.8547 to 1 / 1.0660 = 0.9381: better
#	g2	(100 / 106), 100 / 105 = 0.9524 to 1.05; the middle is 1.  Within 10 %: the same.  Within
#		1 %: undecided.  They are as far from 1 as 1.05, of which the logarithm is 4.9033 times that of
#		1.01; as it falls with the root of their number, 4.9033^2 x 7 = 168.3 runs would decide.  Surely the
#		change is not above 1.06 nor below 1 / 1.06, which are 1.06^2 apart; 1.2 times as far from 1.01,
#		1.01 x 1.06^2.4 = 1.162, would have been seen.
#
# Each flashes for 20 s, the new ones of g2 for 40 s: twice as long, which explains and has no status.
# Three old runs of g1 have another configuration, one failed, and the newest has not ended.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"

# test_run ID GROUP BEGIN SECONDS [FLASH [CONFIGURATION [PROPERTY]]]
test_run() {
	echo "entity n1 run $1 device_group=$2 configuration=${6:-c1} ${7:-}"
	echo "event $3 n1 run:request run=$1"
	echo "event $(($3 + 1)) n1 run:queue_end run=$1"
	echo "event $(($3 + 1)) n1 run:flash_start run=$1"
	echo "event $(($3 + 1 + ${5:-20})) n1 run:flash_end run=$1"
	echo "event $(($3 + $4)) n1 run:publish run=$1"
}
{
	for i in 0 1 2; do test_run "unlike$i" g1 $((i * 1000)) 50 20 c2; done
	for i in 0 1 2 3 4 5 6; do
		test_run "g1-old$i" g1 $((10000 + i * 1000)) $((100 + i))
		test_run "g2-old$i" g2 $((10000 + i * 1000)) $((100 + i))
		test_run "g3-old$i" g3 $((10000 + i * 1000)) $((112 + i))
		test_run "g1-new$i" g1 $((20000 + i * 1000)) $((112 + i))
		test_run "g2-new$i" g2 $((20000 + i * 1000)) $((100 + i)) 40
		test_run "g3-new$i" g3 $((20000 + i * 1000)) $((100 + i))
	done
	test_run failed g1 30000 500 20 c1 error=flash:timeout
	echo "entity n1 run late device_group=g1 configuration=c1"
	echo "event 31000 n1 run:request run=late"
} | records

# of NUMBER STATUS OPTION...
of() {
	_number=$1
	_exit=$2
	shift 2
	compared "$_exit" poolscope-stats compare --by run --with last:7 --format csv "$@" | grep "^$_number \|^status"
}
WORSE="testrun worse 1.0660 1.1700 103.0000 115.0000 7 7 -"
answer "worse" "$WORSE" of testrun 3 --group g1
check "... the unlike are counted" grep -q '3 older runs are not compared' "$TMP/notes"
check "... and those that failed or did not end" grep -q '2 runs failed or did not end' "$TMP/notes"
answer "better" "testrun better 0.8547 0.9381 115.0000 103.0000 7 7 -" of testrun 0 --group g3
answer "the same" "testrun same 0.9524 1.0500 103.0000 103.0000 7 7 -" of testrun 0 --group g2 --worse 10%
answer "undecided" "testrun undecided 0.9524 1.0500 103.0000 103.0000 7 7 169" of testrun 4 --group g2
answer "what explains has no status" "flash worse 2.0000 2.0000 20.0000 40.0000 7 7 -" of flash 0 --group g2 --worse 10%

named() {
	for i in 0 1 2 3 4 5 6; do printf '%s g1-%s%s ' "$1" "$2" "$i"; done
}
# shellcheck disable=SC2046 # words
check_status 3 "by their names" poolscope-stats compare --by run $(named --base old) $(named --with new) --columns says
check_printed "... the same" "^worse: 11.7 % more (6.6 % more to 17.0 % more), 7 new and 7 old$"
check_status 4 "two runs" poolscope-stats compare --by run --base g1-old0 --with g1-new6 --columns says
check_printed "... are too few" "^undecided: 18.0 % more, 1 new and 1 old; about 7 of each would decide$"

report() {
	poolscope-stats compare --by run --with last:7 "$@" >"$TMP/report"
	echo "status $?" >>"$TMP/report"
	cat "$TMP/report"
}
answer "JUnit" "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"runs of acct\$pool\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">
  <testcase classname=\"runs of acct\$pool\" name=\"testrun of group g1; configuration c1\">
    <failure message=\"worse: 11.7 % more (6.6 % more to 17.0 % more), 7 new and 7 old\"/>
  </testcase>
</testsuite>
status 3" report --group g1 --report junit
answer "JUnit, undecided" "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"runs of acct\$pool\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">
  <testcase classname=\"runs of acct\$pool\" name=\"testrun of group g2; configuration c1\">
    <skipped message=\"undecided: 0.0 % more (4.8 % less to 5.0 % more), 7 new and 7 old; about 169 of each would decide; 16.2 % more would have been seen\"/>
  </testcase>
</testsuite>
status 4" report --group g2 --report junit
OF='title=runs of acct$pool::testrun of group'
answer "annotations, worse" "::error $OF g1; configuration c1: worse: 11.7 %25 more (6.6 %25 more to 17.0 %25 more), 7 new and 7 old
status 3" report --group g1 --report github
answer "annotations, the same" "::notice $OF g2; configuration c1: same: 0.0 %25 more (4.8 %25 less to 5.0 %25 more), 7 new and 7 old; 26.5 %25 more would have been seen
status 0" report --group g2 --worse 10% --report github
stop aggregator
