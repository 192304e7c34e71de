#!/bin/sh
# A node reported its load every 10 s for three hours, ten days ago: 1 and 3 in turns for
# ten minutes, then 11 and 13, then 21 and 23, and so on: 180 values of each.  Mean 12;
# p50 is the 540th of 1,080, the last of 11; p99 the 1,070th, 23.  It also reported a fan
# with 5 turns a second all the time, and counted 10 frames a second.
#
# The answer is the same when the hours are compacted into rollups.  When the samples are
# deleted after 7 days, only rollups of a minute are left: count, minimum, mean and
# maximum are as before.  The quantiles are unknown, and the last lines say why: nothing is
# guessed.  Those of the fan are known, for what lies between 5 and 5 is 5.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

samples() {
	poolscope-dump --kind sample --format jsonl | wc -l
}

# numbers METRIC: its statistics.
numbers() {
	columns count,min,mean,p50,p99,max,quantiles poolscope-stats samples -m "$1" --format csv
}

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'print("group n1 box load:1:gauge fan:Hz:gauge")
print("group n1 app poolscope.boot:1:gauge frames:1:counter")
for i in range(1080):
    print("sample", 10 * i, "n1 box", i // 60 % 3 * 10 + 1 + i % 2 * 2, 5)
    print("sample", 10 * i, "n1 app 7", 100 * i)' | records
load=1080,1.0,12.0,11.0,23.0,23.0,exact
fan=1080,5.0,5.0,5.0,5.0,5.0,exact
answer "all samples are there" "$load" numbers load
answer "... of a counter, too" "1079,10.0,10.0,10.0,10.0,10.0,exact" numbers frames
stop aggregator
check "they are compacted" poolscope-admin compact
answer "nothing changes" "$load" numbers load
aggregate --retain-raw 7d
check "the samples are deleted" wait_until '[ "$(samples)" = 0 ]' 30
answer "the quantiles are unknown" "1080,1.0,12.0,,,23.0,rolled up" numbers load
answer "... but those of equal values" "$fan" numbers fan
answer "the mean rate of the counter" "10.0" columns mean poolscope-stats samples -m frames --format csv
check "the table" poolscope-stats samples
check_printed "... says what it was read from" "from 1min"
check_printed "... and why there are no quantiles" "rows without p50 and p99: 2; only rollups of their samples are left"
