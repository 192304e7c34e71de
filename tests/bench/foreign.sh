# foreign - what the numbers of other programs cost: 1,000 series, a sample each 10 s for
# two hours, compacted, as one metric group, as 100 (an exporter with as many label sets),
# and as 1,000 of one series each.
#
#   HOURS=2 SERIES=1000 GROUPS_="1 100 1000" sh tests/bench/foreign.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
hours=${HOURS:-2}
series=${SERIES:-1000}

for groups in ${GROUPS_:-1 100 1000}; do
	python3 tests/bench/foreign.py "$groups" "$series" $((360 * hours)) >"$TMP/samples.jsonl"
	poolscope up >/dev/null
	poolscope-import -q records "$TMP/samples.jsonl"
	poolscope down >/dev/null
	poolscope-admin compact --quiet
	"$B/bench/history" stored "$TMP/i/store" $((series * 360 * hours)) "$series foreign series in $groups groups"
	rm -rf "$TMP/i"
done
