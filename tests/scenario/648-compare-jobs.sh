#!/bin/sh
# Jobs of one node, one every 1,000 s: seven with 200, 201 ... 206 s, then seven with 180, 181 ... 186 s.
# Their names begin with train-; another job, eval-1, took 1 s after all of them.
#
# Each new one is below each old one.  Of 14 choose 7, 3,432 ways, that is one, and one more has a
# single pair the other way round: together less than one in 1,000, which is 3.4; the next two
# are too many.  So the limits are the second of the 49 ratios, (180 / 206), 180 / 205 = 0.8780, and
# the last but one, 186 / 201 = 0.9254, (186 / 200).  Better.
#
# Before them two jobs ran on two nodes: from 0 to 100 and from 10 to 150, which is 150 s, and so once more.
# With these a comparison is of other jobs.  A last train- has not ended.
# With --mixed they are old ones, too: 9 old of 150, 150, 200 ... 206 s.  A new one is above an old one
# in 14 pairs of 63, which chance does often.  8 choose 1 of 8 old and 1 new: too few.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
# job NAME BEGIN END [NODE]
job() {
	echo "event $2 ${4:-n1} job:start job=$1"
	[ "$3" = - ] || echo "event $3 ${4:-n1} job:end job=$1"
}
{
	for i in 0 1; do
		job "train-two$i" $((i * 1000)) $((i * 1000 + 100))
		job "train-two$i" $((i * 1000 + 10)) $((i * 1000 + 150)) n2
	done
	for i in 0 1 2 3 4 5 6; do
		job "train-old$i" $((10000 + i * 1000)) $((10200 + i * 1001))
		job "train-new$i" $((20000 + i * 1000)) $((20180 + i * 1001))
	done
	job eval-1 30000 30001
	job train-late 31000 -
} | records

# jobs STATUS OPTION...
jobs() {
	_exit=$1
	shift
	compared "$_exit" poolscope-stats compare --by job --name 'train-*' --format csv "$@"
}
BETTER="job better 0.8780 0.9254 203.0000 183.0000 7 7 -"
answer "better" "$BETTER" jobs 0 --with last:7
check "... those of two nodes are others" grep -q '2 older runs are not compared, because no new one' "$TMP/notes"
check "... and one did not end" grep -q '1 run failed or did not end' "$TMP/notes"
# shellcheck disable=SC2046 # words
answer "the new ones are what was old" "job worse 1.0806 1.1389 183.0000 203.0000 7 7 -" jobs 3 \
	$(for i in 0 1 2 3 4 5 6; do printf -- '--base train-new%s --with train-old%s ' $i $i; done)
check_status 4 "all that there are, like or not" poolscope-stats compare --by job --name 'train-*' --with last:7 --mixed --columns says
check_printed "... are undecided" "^undecided: .* 7 new and 9 old"
check_status 4 "those of two nodes" poolscope-stats compare --by job --with train-two1 --base train-two0 --columns old,new,says
check_printed "... ran to the last end" "^150.00  150.00  undecided: 0.0 % more, 1 new and 1 old"
check_status 4 "no such job" poolscope-stats compare --by job --name 'none-*'
check_printed "... is reported" "^no run of this kind in that time$"
stop aggregator
