#!/bin/sh
# n1 has 2 processors; from 0 to 3600 s one of them works: 1 CPU second a second, 1 unused.
# Samples are 10 s apart, at 3, 13 ... 3603 s, none of them on an edge below.
#
#	the hour from 3 to 3603		3600 CPU s used, 3600 unused
#	each of its windows of 10 min	600 used, 600 unused, whatever the step, and
#					6 x 600 = 3600: parts add up to the whole
#	20 min from 100 to 1300		1200 used
#	job a, from 1000.5 to 1008.5	8 s between two samples (993, 1003, 1013): 8 used and
#					8 unused, in each form of the question
#	job b, from 1200 to 1300	100 used
#	job c, two tasks at once on n1, 2000 to 3200 and 2600 to 3800: it ran from 2000 to
#					the last sample, 3603: 1603, not 1200 + 1003
#	job c on n2, 3000 to 3100	n2 has one processor, which works: 100
#	job d, 2000 to 2010 and 2020 to 2030	2 x 10 = 20: the time between is not its own
#	job e, inside of c, 2500 to 2600	100 more: a node's use is that of each job
#	job f, 4000 to 4010		behind the last sample: unknown, no row
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
{
	cat <<-'END'
		group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge
		event 1000.5 n1 job:start job=a
		event 1008.5 n1 job:end job=a
		event 1200 n1 job:start job=b
		event 1300 n1 job:end job=b
		event 2000 n1 job:start job=c task=1
		event 2600 n1 job:start job=c task=2
		event 3200 n1 job:end job=c task=1
		event 3800 n1 job:end job=c task=2
		event 3000 n2 job:start job=c task=3
		event 3100 n2 job:end job=c task=3
		event 2000 n1 job:start job=d
		event 2010 n1 job:end job=d
		event 2020 n1 job:start job=d
		event 2030 n1 job:end job=d
		event 2500 n1 job:start job=e
		event 2600 n1 job:end job=e
		event 4000 n1 job:start job=f
		event 4010 n1 job:end job=f
	END
	for t in $(seq 3 10 3603); do
		echo "sample $t n1 cpu 7 $((t * 100)) $((t * 100)) 2"
		echo "sample $t n2 cpu 9 $((t * 100)) 0 1"
	done
} | records

# use JOB NODE ARGUMENT...: CPU seconds used and unused.
use() {
	_job=$1
	_node=$2
	shift 2
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if [row["job"], row["node"]] == sys.argv[2:4]:
        print(*(row[name] and "%g" % round(float(row[name]) * 3600, 6) or "unknown"
                for name in ("cpu_hours_used", "cpu_hours_unused")))' "$TMP/use.csv" "$_job" "$_node"
}
answer "the hour" "3600 3600" use "" n1 --from "$(at 3)" --to "$(at 3603)"
for step in 1s 10s 1m 7m 1h; do
	for part in 0 1 2 3 4 5; do
		from=$((3 + 600 * part))
		answer "10 minutes from $from in steps of $step" "600 600" \
			use "" n1 --from "$(at $from)" --to "$(at $((from + 600)))" --step $step
	done
	answer "20 minutes in steps of $step" "1200 1200" \
		use "" n1 --from "$(at 100)" --to "$(at 1300)" --step $step
	answer "the 8 s of a job in steps of $step" "8 8" use a n1 --step $step
done
answer "asked for by name" "8 8" use a n1 --job a
answer "in a window around it" "8 8" use a n1 --from "$(at 900)" --to "$(at 1500)"
answer "by name in a window" "8 8" use a n1 --from "$(at 900)" --to "$(at 1500)" --job a
answer "the half of it that is in a window" "4 4" use a n1 --from "$(at 1004.5)" --to "$(at 1500)"
answer "100 s" "100 100" use b n1
answer "by name" "100 100" use b n1 --job b
answer "in a window" "100 100" use b n1 --from "$(at 1100)" --to "$(at 1700)"
answer "two tasks at once are one job" "1603 1603" use c n1
answer "by name, too" "1603 1603" use c n1 --job c
answer "on another node" "100 0" use c n2
answer "with a pause" "20 20" use d n1
answer "by name, with a pause" "20 20" use d n1 --job d
answer "inside of another one" "100 100" use e n1
answer "behind the last sample" "" use f n1
