#!/bin/sh
# n1, sampled every 2 s, and n2, every 10 s, have a level of 1 for an hour: the mean of each of
# 60 minutes is 1, that of the hour, too.  The hour is compacted.
#
# Then a sample of each comes that was late, of 601 s, with a level of 61.  Minute 10 of n1 has
# 31 samples now: (30 + 61) / 31 = 2.93548.  That of n2 has 7: (6 + 61) / 7 = 9.57143.  The hour
# of n1 has 1801: (1800 + 61) / 1801 = 1.03331; that of n2 361: (360 + 61) / 361 = 1.16620.  The
# other minutes stay as they are, and so does n3, a third node that had no late sample.
#
# The answers have it at once, when the hour was compacted again, and when the samples are gone.
# A sample that comes after that, of a node whose samples were deleted, is too late: it changes
# nothing; but n4, which has no samples of that hour yet, gets its own minute.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n1 job level:1:gauge")
for node, period in ("n1", 2), ("n2", 10), ("n3", 2):
    for t in range(0, 3600, period):
        print("sample", t, node, "job 1")' | records

# means NODE STEP: how often each mean of a step comes.
means() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m level -n "$1" --step "$2" --from "$(at 0)" --to "$(at 3600)" --no-png -q \
		-o "$TMP/plot" || return
	awk '/^[0-9]/ { printf "%.5f\n", $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
before() {
	for node in n1 n2 n3; do
		answer "$1: minutes of $node" "60 1.00000" means $node 1m
		answer "$1: the hour of $node" "1 1.00000" means $node 1h
	done
}
after() {
	answer "$1: minutes of n1" "59 1.00000 1 2.93548" means n1 1m
	answer "$1: minutes of n2" "59 1.00000 1 9.57143" means n2 1m
	answer "$1: minutes of n3" "60 1.00000" means n3 1m
	answer "$1: the hour of n1" "1 1.03331" means n1 1h
	answer "$1: the hour of n2" "1 1.16620" means n2 1h
	answer "$1: the hour of n3" "1 1.00000" means n3 1h
}
# again: compact, then go on with these options.
again() {
	stop aggregator
	check "the hour is compacted" poolscope-admin compact
	check "the store is right" poolscope-admin verify
	aggregate "$@"
}
samples() {
	poolscope-dump --kind sample --format jsonl | wc -l
}
before "an open hour"
again
before "compacted"
printf 'sample 601 n1 job 61\nsample 601 n2 job 61\n' | records
after "late"
again
after "late, compacted"
again --retain-raw 7d
check "the samples are deleted" wait_until '[ "$(samples)" = 0 ]' 30
after "rollups"
printf 'sample 603 n1 job 1000\nsample 603 n4 job 5\n' | records
again --retain-raw 7d
check "they are deleted, too" wait_until '[ "$(samples)" = 0 ]' 30
after "much too late"
answer "minutes of n4" "1 5.00000" means n4 1m
answer "the hour of n4" "1 5.00000" means n4 1h
