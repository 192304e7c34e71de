#!/bin/sh
# A long job, with two short ones inside it, and a peak of memory behind both.
#
#	  0       100  200   300  400      500      1000
#	a [-----------------------------------------]      peak 900
#	b         [----]                                   peak 100
#	c                    [----]                        peak 200
#
# Memory used is 100 bytes at each 10 s, 200 at 350 s, 900 at 500 s, and 950 at 1010 s,
# when none of the jobs runs.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
{
	cat <<-'END'
		group n1 memory system.memory.usage.used:By:gauge
		event 0 n1 job:start job=a
		event 100 n1 job:start job=b
		event 200 n1 job:end job=b
		event 300 n1 job:start job=c
		event 400 n1 job:end job=c
		event 1000 n1 job:end job=a
	END
	for t in $(seq 0 10 1010); do
		case $t in
		350) used=200 ;;
		500) used=900 ;;
		1010) used=950 ;;
		*) used=100 ;;
		esac
		echo "sample $t n1 memory $used"
	done
} | records
peaks() {
	columns job,memory_peak_bytes poolscope-stats usage --format csv | sort
}
answer "the peak of each job, and of the node" ",950
a,900
b,100
c,200" peaks
