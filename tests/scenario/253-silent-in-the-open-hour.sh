#!/bin/sh
# Now is 0.  n1 sampled its processors every 10 s from -400 to -300, then it died: 300 s
# without a record are late (1 to 10 min), whatever the hour is: the hour of -300 has
# not ended, or ended less than 300 s ago, in both cases later than the last sample.
# n2 sampled until -700: silent (10 min to 1 h).  n3 samples until -5: live.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# samples NODE LAST: eleven of the counter, the last one at LAST.
samples() {
	echo "group $1 cpu system.cpu.time.idle:cs:counter"
	for _i in 0 1 2 3 4 5 6 7 8 9 10; do
		echo "sample $(($2 - 100 + 10 * _i)) $1 cpu $((1000 * (_i + 1)))"
	done
}

# shellcheck disable=SC2119 # no arguments
aggregate
{
	samples n1 -300
	samples n2 -700
	samples n3 -5
} | records
check_status 3 "one is silent" poolscope nodes --format csv
cp "$TMP/out" "$TMP/nodes.csv"
check_text "each by its last sample" "n2,silent
n1,late
n3,live" "$(columns node,state cat "$TMP/nodes.csv")"
check "silent since that" sh -c 'poolscope nodes --format json | python3 -c "
import json, sys
at = {each[\"node\"]: each[\"silence\"] for each in json.load(sys.stdin)[\"rows\"]}
sys.exit(not (300 <= at[\"n1\"] < 360 and 700 <= at[\"n2\"] < 760 and 5 <= at[\"n3\"] < 60))"'
check_status 3 "so it is for pools" poolscope nodes -n 'n[1-2]'
