#!/bin/sh
# A test run flashes its device three times.  The first attempt is cut off at 10 s by a
# reset, and begins again at 50 s: from there to 80 s it takes 30 s.  The next one lasts
# from 100 to 120 s, 20 s; the last one arrives a day late, from an agent that was without
# a network: from 130 to 130.000000001 s, one nanosecond.  A second end 5 s later ends
# nothing.  So the iterations are 30 s, 20 s and 1 ns.  The order of arrival changes
# nothing: the late events come first here.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 130.000000001 n1 run:flash_end   run=r1
	event 130           n1 run:flash_start run=r1
	event 135           n1 run:flash_end   run=r1
END
records <<-'END'
	event   0 n1 run:request     run=r1
	event  10 n1 run:flash_start run=r1
	event  50 n1 run:flash_start run=r1
	event  80 n1 run:flash_end   run=r1
	event 100 n1 run:flash_start run=r1
	event 120 n1 run:flash_end   run=r1
END
answer "three iterations, the first one from its second start" "1,30
2,20
3,0.000000001" \
	steps iteration,seconds poolscope-stats deltas --time emit --format csv
answer "the same as phases" "3,1,1" columns count,open_starts,open_ends \
	poolscope-stats phases --name testrun:flash --format csv
