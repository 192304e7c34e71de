#!/bin/sh
# Six runs of a farm, which begin at 100, 200 ... 600 s:
#
#	run  queue    configuration  requestor  state     error
#	1    nightly  c1             ada        finished  "flash:timeout"
#	2    nightly  c2             bob        finished  -
#	3    hotfix   c1             ada        ongoing   "boot:no-prompt"
#	4    nightly  c1             ada        finished  "flash:timeout"
#	5    7        c1             <bob>      queued    1.5, which is an error without a text
#	6    nothing describes it               queued    -
#
# The errors: "flash:timeout" of 2 runs, the newest of which is 4 (began at 400 s: 22:20:00), then
# "boot:no-prompt" of one (3, at 300 s) and one without a text (5, at 500 s).  Queue nightly has 3
# runs, of which 2 failed and 4 is the newest.  Failed are 1, 3, 4 and 5, so finished without an
# error is 2 alone, none is ongoing without one, and 6 is queued.
#
# The error of 7, in another pool, is 999 letters and then one of two bytes: 1,001 bytes.  Its
# begin of at most 1,000 bytes that is text is the 999 letters.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# of NAMES OPTION...: these columns of the runs.
of() {
	_of=$1
	shift
	columns "$_of" poolscope-stats runs --format csv -p "$PARTITION" "$@"
}

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 100 n1 run:request run=1
	event 110 n1 run:queue_end run=1
	event 160 n1 run:publish run=1
	event 200 n1 run:request run=2
	event 210 n1 run:queue_end run=2
	event 260 n1 run:publish run=2
	event 300 n1 run:request run=3
	event 310 n1 run:queue_end run=3
	event 400 n1 run:request run=4
	event 410 n1 run:queue_end run=4
	event 460 n1 run:publish run=4
	event 500 n1 run:request run=5
	event 600 n1 run:request run=6
	entity n1 run 1 queue=nightly configuration=c1 requestor=ada error=flash:timeout
	entity n1 run 2 queue=nightly configuration=c2 requestor=bob
	entity n1 run 3 queue=hotfix configuration=c1 requestor=ada error=boot:no-prompt
	entity n1 run 4 queue=nightly configuration=c1 requestor=ada error=flash:timeout
	entity n1 run 5 queue=7 configuration=c1 requestor=<bob> error=1.5
END
ALL="6,,,,
5,7,c1,<bob>,
4,nightly,c1,ada,flash:timeout
3,hotfix,c1,ada,boot:no-prompt
2,nightly,c2,bob,
1,nightly,c1,ada,flash:timeout"
answer "what describes each run" "$ALL" of run,queue,configuration,requestor,error_text --newest 10
answer "... the same where all are read" "$ALL" of run,queue,configuration,requestor,error_text --newest 1000
answer "... and of one" "3,hotfix,boot:no-prompt" of run,queue,error_text --run 3
answer "runs of a queue" "4
2
1" of run --queue 'night*' --newest 10
answer "... the newest two of them" "4
2" of run --queue nightly --newest 2
answer "... and those after them" "1" of run --queue nightly --newest 2 --after 2
answer "those of somebody" "1
3
4" of run --requestor ada
answer "... with a configuration" "1
3
4
5" of run --configuration c1
answer "those with an error like this" "1
4" of run --error '*timeout*'
answer "... of a requestor and a time" "4" of run --error '*timeout*' --requestor ada --from "$(at 350)"
answer "those that failed" "1
3
4
5" of run --state failed
answer "finished without an error" "2" of run --state finished
answer "queued" "6" of run --state queued
check_status 1 "ongoing without an error" poolscope-stats runs --state ongoing
check_printed "... there is none" "no runs with these properties"
answer "durations are of the same runs" "4,60
1,60" of run,step.testrun --error flash:timeout --newest 5
answer "also in 'deltas'" "1
4" sh -c 'poolscope-stats deltas --format csv --error "*timeout*" | sed 1d | cut -d, -f1 | sort -u'
answer "the top errors" "flash:timeout,2,2,4,2023-11-14T22:20:00Z
,1,1,5,2023-11-14T22:21:40Z
boot:no-prompt,1,1,3,2023-11-14T22:18:20Z" of error_text,runs,failed,newest,newest_began --by error
answer "... of the newest three runs" ",5
flash:timeout,4" of error_text,newest --by error --newest 3
answer "... the first of them" "flash:timeout" of error_text --by error --top 1
answer "by queue" "nightly,3,2,4
,1,0,6
7,1,1,5
hotfix,1,1,3" of queue,runs,failed,newest --by queue
answer "by requestor" "ada,3,3,4
,1,0,6
<bob>,1,1,5
bob,1,0,2" of requestor,runs,failed,newest --by requestor
check "the table" poolscope-stats runs --by error
check_printed "... has the text first" "^ERROR TEXT  *RUNS  *FAILED  *NEWEST  *BEGAN"
check_printed "... and the most frequent error" "^flash:timeout  *2  *2  *4 "
wrong_usage "what is no word of --by" "must be one of run|error" poolscope-stats runs --by group
wrong_usage "... nor a state" "queued" poolscope-stats runs --state broken
PARTITION='acct$long'
letters=$(printf 'x%.0s' $(seq 999))
printf 'event 0 n1 run:request run=7\nentity n1 run 7 error=%sé\n' "$letters" | records
answer "a long text is cut before the character that does not fit" "$letters..." of error_text --run 7
answer "... and found by what is shown" "7" of run --error 'xx*...'
stop aggregator
