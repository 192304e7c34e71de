#!/bin/sh
# Nodes that are slow again and again.  20 nodes start 10 times, 2 h apart, and prepare for 20 to
# 24 s each time; n20 takes 60 s in starts 2, 5 and 8, n19 in start 5 as well.
#
#	n20: of 10 starts it was slow in 3.  The others, 190 times of a node in a start, were
#	slow once: with one more that is 2 of 191; in start 5 it is 1 of 19.  So the chance of 3
#	or more is that of 9 starts with 2/191 and one with 1/19.  With q = 2/191 = 0.010471:
#	exactly 3 of them:  C(9,3) q^3 (1-q)^6 (18/19) + C(9,2) q^2 (1-q)^7 (1/19)
#		= 84 x 1.1481e-6 x 0.93882 x 0.94737 + 36 x 1.0964e-4 x 0.92899 x 0.052632
#		= 8.578e-5 + 1.9299e-4 = 2.788e-4, and of 4 or more 6e-6: 2.85e-4
#	which is more than 5e-5: 3 of 10 are not enough where others are slow, too.
#	n19: slow in 1 of 10.
#
# In a second pool only n20 is slow, in the same three: the others in none of 190, with one
# more 1 of 191 = 0.0052356.  The chance of 3 or more of 10 is C(10,3) q^3 (1-q)^7 and some:
# 120 x 1.4352e-7 x 0.96393 = 1.660e-5, and of 4 more 2e-7; times 20 nodes that is 3e-4.  n20 is to be
# drained.  In the last 10 hours it was there in 6 starts (5 to 10), and slow in 2 of them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model pool <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
END
aggregate --models "$TMP/models"

# starts NODES-THAT-ARE-SLOW-IN-5: of the nodes from FIRST on
FIRST=1
starts() {
	awk -v also="$1" -v first="$FIRST" 'BEGIN {
	for (s = 1; s <= 10; s++)
		for (i = first; i <= 20; i++) {
			slow = i == 20 && (s == 2 || s == 5 || s == 8) || i == also && s == 5
			printf "event %d n%02d prep:start\n", 7200 * s, i
			printf "event %d n%02d prep:end\n", 7200 * s + (slow ? 60 : 20 + (i + s) % 5), i
		}
	}' | records
	wait_until indexed 30
}
chronic() {
	columns node,starts,slow,lost,drain poolscope stats stragglers --last 30d --table chronic --format csv "$@"
}

starts 19
answer "others are slow, too" "n20,10,3,114,false
n19,10,1,38,false" chronic
chance() {
	columns chance poolscope stats stragglers --last 30d --table chronic --format csv -n n20 | awk '{ printf "%.3g\n", $1 }'
}
answer "... by chance" 0.000285 chance
check "... so none is drained" poolscope stats stragglers --drain
check_text "... and none is named" "" "$(poolscope-stats stragglers --drain 2>"$TMP/words")"
check "... which it reports" grep -q "no node is to be drained, after [0-9]* starts" "$TMP/words"

PARTITION='acct$second'
export POOLSCOPE_PARTITION="$PARTITION"
starts 0
answer "a node that is slow again and again" "n20,10,3,114,true" chronic
check_status 3 "... is drained" poolscope stats stragglers --drain
check_text "... by its name" "n20" "$(cat "$TMP/out")"
answer "... not for two of six" "n20,6,2,76,false" chronic --last 10h
check "..." poolscope stats stragglers --drain --last 10h
check_status 4 "two starts decide nothing" poolscope stats stragglers --drain --last 3h

# 11 nodes, of which the last is slow in the same three: too few to compare one with.
PARTITION='acct$few'
export POOLSCOPE_PARTITION="$PARTITION"
FIRST=10
starts 0
check_status 4 "ten starts of 11 nodes decide nothing" poolscope stats stragglers --drain
check_printed "... which it reports" "cannot decide: nodes could be compared in 0 starts, it takes 3"
answer "... and have none" "" chronic
check_printed "... as a note says" "chronic ones are those of 0 starts" poolscope stats stragglers --last 30d
