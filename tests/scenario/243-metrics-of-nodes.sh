#!/bin/sh
# Now is 0.  n1 has 4 processors.  From -100 to -50 its idle time grew by 15,000 hundredths of a
# second: 150 of 4 x 50 = 200 s; it waited for I/O for 1,000: 10 of 200 s, 5 %.  In the other 40 s
# it did something: 20 %.  Its load was 9, then 2.5; it used 5,000, then 7,000 of 16,000 bytes, 8,000 were
# available, and 128 of swap space were used.  In these 50 s a process waited for a processor
# for 5,000,000 us: 10 %, for memory never, for I/O for 20 s: 40 %.
#
# n2 has samples of -1000 only: nothing of the last 5 min.  n3 has one sample of -60: its load, 1,
# but no rate.  n4 has an event only.  n5's clock is an hour behind: its samples of -3660 and
# -3650 by that clock were taken at -60 and -50: its one processor was idle for 5 of 10 s: 50 %.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
{
	for node in n1 n2 n3 n5; do
		echo "group $node cpu poolscope.boot:1:gauge system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge"
		echo "group $node load poolscope.boot:1:gauge system.cpu.load_average.1m:{thread}:gauge"
	done
	cat <<-'END'
		group n1 memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge system.linux.memory.available:By:gauge system.paging.usage.used:By:gauge
		group n1 pressure poolscope.boot:1:gauge system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter system.linux.pressure.io.some:us:counter
		group n5 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge
		sample -100 n1 cpu 7 1000 500 4
		sample -50 n1 cpu 7 16000 1500 4
		sample -100 n1 load 7 9
		sample -50 n1 load 7 2.5
		sample -100 n1 memory 16000 5000 8000 128
		sample -50 n1 memory 16000 7000 8000 128
		sample -100 n1 pressure 7 100 100 100
		sample -50 n1 pressure 7 5000100 100 20000100
		sample -1000 n2 load 7 3
		sample -1000 n2 cpu 7 100 100 2
		sample -60 n3 load 7 1
		sample -60 n3 cpu 7 100 100 2
		event -10 n4 work:a
		sample -3660 n5 clock 3600000000000 1000 0 0 1000 1 0
		sample -3650 n5 clock 3600000000000 1000 0 0 1000 1 0
		sample -3660 n5 cpu 7 100 0 1
		sample -3650 n5 cpu 7 600 0 1
	END
} | records
# used OPTION...: what the nodes used, to nine digits: the program divides binary numbers.
used() {
	poolscope stats metrics "$@" >"$TMP/metrics" || return
	sed -n 's/^system_\(.*\){partition="acct$pool",node="\(.*\)"} \(.*\)$/\2 \1 \3/p' "$TMP/metrics" |
		awk '{ printf "%s %s %.9g\n", $1, $2, $3 }' | LC_ALL=C sort
}
answer "what each node used" "n1 cpu_iowait_ratio 0.05
n1 cpu_load_average_1m 2.5
n1 cpu_utilization_ratio 0.2
n1 linux_memory_available_bytes 8000
n1 linux_pressure_cpu_ratio 0.1
n1 linux_pressure_io_ratio 0.4
n1 linux_pressure_memory_ratio 0
n1 memory_limit_bytes 16000
n1 memory_usage_bytes 7000
n1 paging_usage_bytes 128
n3 cpu_load_average_1m 1
n5 cpu_iowait_ratio 0
n5 cpu_utilization_ratio 0.5" used --metrics nodes
answer "nothing without nodes" "" used
