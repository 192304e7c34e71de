#!/bin/sh
# A node reported its load every 10 s for three hours, ten days ago: 1,080 samples.
# The load was 1 and 3 in turns in the first ten minutes of each half hour, 11 and 13
# in the second, and 21 and 23 in the third, so the means of ten minutes are 2, 12 and
# 22, again and again.  The aggregator deletes raw samples after 7 days: none is left,
# and the means of ten minutes are as before, and those of a minute, too: 60 times 2, 60
# times 12, 60 times 22.
# Then it deletes the minutes after 8 days: the means of three hours are left, each
# (2 + 12 + 22) / 3 = 12, whatever the step.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

three_hours() {
	/usr/bin/python3 -c 'print("group n1 work load:1:gauge")
for i in range(1080):
    print("sample", 10 * i, "n1 work", i // 60 % 3 * 10 + 1 + i % 2 * 2)' | records
}

samples() {
	poolscope-dump --kind sample --format jsonl | grep -c '"work"'
}

# means STEP: the means that a picture has, and how often each comes.
means() {
	poolscope-plot samples -m load --from "$(at 0)" --to "$(at 10800)" --step "$1" \
		--no-png -o "$TMP/plot" >"$TMP/out" 2>"$TMP/err" || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}

# retain OPTION...: compact everything, and begin to delete.
retain() {
	stop aggregator
	check "the samples are compacted" poolscope-admin compact
	aggregate "$@"
	check "no raw sample is left with $*" wait_until '[ "$(samples)" = 0 ]' 30
}

aggregate
three_hours
check_text "all samples are there" 1080 "$(samples)"
check_text "... each mean six times" "6 2 6 12 6 22" "$(means 10m)"
retain --retain-raw 7d
check_text "the means of ten minutes are left" "6 2 6 12 6 22" "$(means 10m)"
check_text "... and those of a minute" "60 2 60 12 60 22" "$(means 1m)"

retain --retain-raw 7d --retain-1min 8d
check "no minute is left" wait_until '[ "$(means 1m)" = "3 12" ]' 30
check_text "the means of hours are left" "3 12" "$(means 1h)"
check_text "... whatever the step" "3 12" "$(means 10m)"
