#!/bin/sh
# Three test runs: 7 waited from 100 s to 130 s, was flashed to 150 s and published its
# results at 200 s; 8, which ended with an error, left the queue at 340 s and is being flashed;
# 9 was only requested, at 400 s.
#
# So 7 is finished, 8 ongoing, and 9 queued; the newest is 9.  The one wait that ended took
# 30 s, the one flash 20 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 100 n1 run:request run=7
	event 100 n1 run:queue_start run=7
	event 130 n1 run:queue_end run=7
	event 130 n1 run:flash_start run=7
	event 150 n1 run:flash_end run=7
	event 200 n1 run:publish run=7
	event 300 n1 run:request run=8
	event 340 n1 run:queue_end run=8
	event 340 n1 run:flash_start run=8
	event 400 n1 run:request run=9
	entity n1 run 7 run=7 device_group=phones
	entity n1 run 8 run=8 device_group=tablets error=timeout
END
answer "state and error" "9,,queued,false,2023-11-14T22:20:00Z
8,tablets,ongoing,true,2023-11-14T22:18:20Z
7,phones,finished,false,2023-11-14T22:15:00Z" columns run,group,state,error,first \
	poolscope-stats runs --format csv --newest 5
answer "with the durations of the steps" "30,20," columns step.queue,step.flash,step.boot \
	poolscope-stats runs --format csv --run 7
check "the table" poolscope-stats runs --sort run
check_printed "... says it in words" "^8  *tablets  *ongoing  *yes  *2023-11-14T22:18:20Z  "
stop aggregator
