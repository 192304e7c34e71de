#!/bin/sh
# The memory of n1 is sampled every 200 ms, at 0.1, 0.3, 0.5 ... s.  It is 100 bytes, but
# 900 at 10.1 s and 700 at 20.9 s.  Job a runs from 10.2 to 20.8 s: its peak is 100, as it
# was not there when the memory was 900 and 700.  Job b runs from 10.0 to 10.2: 900.  Job c
# runs from 20.9 to 21.0, from the sample of 700 on: 700.  Job d ends when that sample is
# taken, which is then not its own: 100.  The peak of n1 is 900.
#
# The samples of the node old are from both sides of 1970: 1 at -1800 s and 2 at 1800 s.
# That are two hours, of which each has a value of its own.
#
# g1 of another pool uses at most 800 bytes of memory, and 300 of a GPU's.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
{
	cat <<-'END'
		group n1 memory system.memory.usage.used:By:gauge
		event 10.2 n1 job:start job=a
		event 20.8 n1 job:end job=a
		event 10.0 n1 job:start job=b
		event 10.2 n1 job:end job=b
		event 20.9 n1 job:start job=c
		event 21.0 n1 job:end job=c
		event 20.5 n1 job:start job=d
		event 20.9 n1 job:end job=d
	END
	/usr/bin/python3 -c 'for i in range(200):
    t = 2 * i + 1
    print("sample %d.%d n1 memory" % (t // 10, t % 10), {101: 900, 209: 700}.get(t, 100))'
} | records
peaks() {
	columns job,memory_peak_bytes poolscope-stats usage --format csv "$@" | sort
}
answer "each job has its own peak" ",900
a,100
b,900
c,700
d,100" peaks
for job in a,100 b,900 c,700 d,100; do
	answer "job ${job%,*} by name" "$job" peaks --job "${job%,*}"
done

PARTITION='acct$gpu'
records <<-'END'
	group g1 memory system.memory.usage.used:By:gauge
	group g1 gpu/0 hw.gpu.memory.usage:By:gauge
	sample 0 g1 memory 800
	sample 10 g1 memory 700
	sample 0 g1 gpu/0 200
	sample 10 g1 gpu/0 300
END
answer "the memory of a GPU has its own peak" "800,300" columns memory_peak_bytes,gpu_memory_peak_bytes \
	poolscope-stats usage -p "$PARTITION" --format csv
PARTITION='acct$pool'

BASE=0
records <<-'END'
	group old depth level:1:gauge
	sample -1800 old depth 1
	sample 1800 old depth 2
END
for stage in stored compacted; do
	check "an hour on both sides of 1970, $stage" poolscope-plot samples -m level -n old \
		--from "$(at -3600)" --to "$(at 3600)" --step 1h --no-png -o "$TMP/$stage"
	check_text "... has two values" "1 2" "$(awk '/^-?[0-9]/ { print $2 }' "$TMP/$stage"/*.dat | xargs)"
	[ $stage = stored ] || break
	stop aggregator
	check "all is compacted" poolscope-admin compact --models "$TMP/models"
	POOLSCOPE_STORE=$DIR/store
	export POOLSCOPE_STORE
done
