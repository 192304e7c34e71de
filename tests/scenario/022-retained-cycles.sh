#!/bin/sh
# A node runs a cycle of a minute every half hour for 100 hours, then --retain is 50 h:
# 2 cycles an hour * 50 hours = 100 cycles are left.  One more began 30 s before the
# oldest hour that is left and ended 30 s after it: its start is deleted, so its end
# has no start any more.  Statistics, the list of phases, the stored events (201) and
# a rebuild all say the same.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
# Records are deleted by whole hours: not while one ends.
while [ "$(date +%M)" = 59 ]; do sleep 1; done
BASE=$(($(date +%s) / 3600 * 3600 - 100 * 3600))
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "cycle" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
i=0
while [ $i -lt 200 ]; do
	echo "event $((i * 1800 + 60)) n1 work:start"
	echo "event $((i * 1800 + 120)) n1 work:end"
	i=$((i + 1))
done >"$TMP/lines"
echo "event 179970 n1 work:start
event 180030 n1 work:end" >>"$TMP/lines"
records <"$TMP/lines"
stop aggregator
aggregate --models "$TMP/models" --retain 50h
# says: all four answers, in a line.
says() {
	columns count,sum,open_starts,open_ends poolscope-stats phases --format csv "$@"
	poolscope-dump --kind phase --format csv "$@" | wc -l
	poolscope-dump --kind event --format csv "$@" | wc -l
}
wait_until "[ \"\$(poolscope-dump --kind event | wc -l)\" -lt 300 ]" 30
wait_until "[ \"\$(poolscope-dump --kind phase | wc -l)\" -lt 150 ]" 30
# The tables have a header line.
answer "100 cycles and an end are left" "100,6000.0,0,1
102
202" says
stop aggregator
poolscope-admin rebuild --models "$TMP/models" >"$TMP/rebuilt" 2>&1
answer "a rebuild says the same" "100,6000.0,0,1
102
202" says --store "$DIR/store"
