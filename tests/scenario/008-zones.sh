#!/bin/sh
# A zone is a way to print a time; it changes no number.
#
# In Berlin clocks were set back on 29 October 2023 at 01:00 UTC: 02:30 there comes
# twice.  A job runs from 00:30 UTC (02:30 summer time) to 01:30 UTC (02:30 winter
# time): the clock on the wall says that no time has passed, and it took an hour, 3600 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1698539400 # 2023-10-29 00:30:00 UTC: date -u -d @1698539400
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event    0 n1 work:start
	event 3600 n1 work:end
END

for zone in UTC Europe/Berlin Pacific/Auckland; do
	answer "the step took an hour, seen from $zone" "1,3600.0" columns count,sum \
		env TZ="$zone" poolscope-stats phases --format csv
	answer "its dump is in UTC, seen from $zone" \
		"2023-10-29T00:30:00.000000000Z,2023-10-29T01:30:00.000000000Z" \
		columns time,end env TZ="$zone" poolscope-dump --kind phase --format csv
done
answer "a window may be given with an offset: from 03:00 summer time, 01:00 UTC, on only the end" \
	"end" columns name poolscope-dump --kind event --format csv --from 2023-10-29T03:00:00+02:00
