#!/bin/sh
# A step runs from a minute before to a minute after 29 February 2024, the leap day.
# Times are seconds since 1970, so zones and calendars do not matter: the step took
# 24 h and 2 min, 86,400 + 120 = 86,520 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1709164740 # 2024-02-28 23:59:00 UTC: date -u -d @1709164740
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event     0 n1 work:start
	event 86520 n1 work:end
END
answer "the step took a day and two minutes" "1,86520.0,0" \
	columns count,mean,open_starts poolscope-stats phases --format csv
answer "its dump has the dates" "2024-02-28T23:59:00.000000000Z,2024-03-01T00:01:00.000000000Z" \
	columns time,end poolscope-dump --kind phase --format csv
