#!/bin/sh
# Twenty nodes, n01 to n20, sampled every minute for two hours, so that many of them share a
# chunk.  Node k is a gauge, level, of k in the first hour and of k + 100 in the second; and a
# counter of k a second, from one boot, so 60 k from one sample to the next.
#
# Of n07: 120 samples, least 7, greatest 107, mean (60 x 7 + 60 x 107) / 120 = 57; its rate is 7
# between all of its 120 samples, over the border of the hour, too: 119 rates.  Of n20: 20, 120,
# 70, and 20.  The means of minutes of n07 are 60 times 7 and 60 times 107; of hours, 7 and 107.
# n03 stopped after 10 minutes of the second hour: 70 samples, mean
# (60 x 3 + 10 x 103) / 70 = 1210 / 70 = 17.2857.
#
# The answers are the same while the hours are open, when they are compacted, when a late
# sample of n07 has come (207 at 1830 s, for the 30 s until the next one, so its mean by time
# is 57 + 200 x 30 / 7200 = 57.8333), and when that is compacted, too.  When the samples have
# been deleted, count, least, mean and greatest are as before, and minutes and hours have the
# same means; the half hour that begins at 900 s has 30 minutes.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n01 job level:1:gauge")
print("group n01 work poolscope.boot:1:gauge frames:1:counter")
for k in range(1, 21):
    for i in range(70 if k == 3 else 120):
        print("sample", 60 * i, "n%02d" % k, "job", k + 100 * (i // 60))
        print("sample", 60 * i, "n%02d" % k, "work 7", 60 * k * i)' | records

# level NODE: count, least, mean and greatest of it; rate NODE: of its counter.
level() {
	columns count,min,mean,max poolscope-stats samples -m level -n "$1" --format csv
}
rate() {
	columns count,min,mean,max poolscope-stats samples -m frames -n "$1" --format csv
}
# means NODE STEP [OPTION...]: how often each mean of a step comes.
means() {
	rm -rf "$TMP/plot"
	_node=$1
	_step=$2
	shift 2
	[ $# -gt 0 ] || set -- --from "$(at 0)" --to "$(at 7200)"
	poolscope-plot samples -m level -n "$_node" --step "$_step" "$@" --no-png -q -o "$TMP/plot" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}
# mean NODE: four digits of it.
mean() {
	printf '%.4f\n' "$(columns mean poolscope-stats samples -m level -n "$1" --format csv)"
}
answers() {
	answer "$1: n20" "120,20.0,70.0,120.0" level n20
	answer "$1: n03, which stopped" 17.2857 mean n03
	answer "$1: n20 counts" "119,20.0,20.0,20.0" rate n20
	answer "$1: n07 counts" "119,7.0,7.0,7.0" rate n07
	answer "$1: minutes of n20" "60 20 60 120" means n20 1m
	answer "$1: hours of n20" "1 20 1 120" means n20 1h
	answer "$1: half an hour of n20" "30 20" means n20 1m --from "$(at 900)" --to "$(at 2700)"
}
answers "open hours"
answer "n07" "120,7.0,57.0,107.0" level n07
answer "minutes of n07" "60 7 60 107" means n07 1m
stop aggregator
check "the hours are compacted" poolscope-admin compact
answers "compacted"
answer "n07, compacted" "120,7.0,57.0,107.0" level n07
answer "minutes of n07, compacted" "60 7 60 107" means n07 1m
check "the store is right" poolscope-admin verify
# shellcheck disable=SC2119 # no options
aggregate
echo "sample 1830 n07 job 207" | records
answers "a late sample has come"
answer "n07 has it" 57.8333 mean n07
stop aggregator
check "it is compacted" poolscope-admin compact
answers "late, compacted"
answer "n07 still has it" 57.8333 mean n07
check "the store is right again" poolscope-admin verify
delete_samples
answer "rollups: n07" 57.8333 mean n07
answer "rollups: n03" 17.2857 mean n03
answer "rollups: n20" "120,20.0,70.0,120.0" level n20
answer "rollups: minutes of n20" "60 20 60 120" means n20 1m
answer "rollups: hours of n20" "1 20 1 120" means n20 1h
answer "rollups: half an hour of n20" "30 20" means n20 1m --from "$(at 900)" --to "$(at 2700)"
