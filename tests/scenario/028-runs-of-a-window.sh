#!/bin/sh
# A farm runs r1 on the first day: it flashes from 100 to 103 s.  r2 begins on the first
# day, 1 s before the second (86,400 s), and flashes to 86,404 s: 5 s.  r3 flashes from
# 90,000 to 90,007 s.  A run belongs to the window of its first event, with all that it
# did later.
#   the first day:  r1 3 s, r2 5 s         the second: r3 7 s
# Events emitted on the second day: an end of r2, a start and an end of r3.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event   100 n1 run:flash_start run=r1
	event   103 n1 run:flash_end   run=r1
	event 86399 n1 run:flash_start run=r2
	event 86404 n1 run:flash_end   run=r2
	event 90000 n1 run:flash_start run=r3
	event 90007 n1 run:flash_end   run=r3
END
deltas() {
	steps run,seconds poolscope-stats deltas --format csv "$@"
}
answer "all" "r1,3
r2,5
r3,7" deltas
answer "the first day" "r1,3
r2,5" deltas --to "$(at 86400)"
answer "the second day" "r3,7" deltas --from "$(at 86400)"
answer "from the first event on" "r2,5" deltas --from "$(at 86399)" --to "$(at 90000)"
answer "... not a nanosecond later" "r3,7" deltas --from "$(at 86399.000000001)"
answer "the iterations of the second day" 'r3,flash_start,1
r3,flash_end,1' \
	columns run,event,count poolscope-stats iterations --format csv --from "$(at 86400)"
answer "the events of the second day" "flash_end,2
flash_start,1" columns event,count poolscope-stats skew --format csv --from "$(at 86400)"
check "the page of the second day" poolscope-plot testrun --no-png -q -o "$TMP/drawn" \
	--series "$TMP/series.json" --from "$(at 86400)"
check_text "... has one run" 1 "$(sed 1d "$TMP/drawn"/*-0001.dat | grep -c .)"
check "... which is r3" grep -q r3 "$TMP/series.json"
check_status 1 "a run of another day" poolscope-stats deltas --run r1 --from "$(at 86400)"
check_printed "... is reported" "no run 'r1' of model testrun that began in that time"
check_status 1 "a time without runs" poolscope-stats iterations --from "$(at 200000)"
check_printed "... is reported" "no runs that began in that time"
check_status 1 "... in pictures" poolscope-plot testrun --no-png -o "$TMP/none" --from "$(at 200000)"
check_printed "... too" "no runs with events in that time"
check_status 1 "... in groups" poolscope-stats groups --from "$(at 200000)"
check_printed "... too" "no runs of a matching group"
