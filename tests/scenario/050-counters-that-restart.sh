#!/bin/sh
# Four counters on one node, within one boot, a sample each 10 s.
#
# disk/sda, bytes read: 10,000, then 6,000, 7,000: the driver was loaded again.  What
# falls by 40 % started again: 6,000 since then, and 1,000: 7,000 bytes.
#
# disk/sdb, bytes read: 3,000,000,000, then 4,096.  It has 64 bits: that is no wrap
# (it would be 2^32 - 3,000,000,000 + 4,096 = 1,294,971,392 bytes), but 4,096 bytes.
#
# cpu, ticks of 10 ms: iowait went from 500 back to 497, then to 517.  The kernel's
# sum falls by some ticks now and then: no increase, then 20 ticks = 0.2 s unused.
#
# disk/sdc, milliseconds of I/O: 4,294,967,290, then 4, then 5,004: 32 bits, which
# wrap: 10 ms in 10 s are 0.1 % of the time, then 5 s in 10 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter
	group n1 disk/sdb poolscope.boot:1:gauge system.disk.io.read:By:counter
	group n1 disk/sdc poolscope.boot:1:gauge system.disk.io_time:ms:counter
	group n1 cpu poolscope.boot:1:gauge system.cpu.time.iowait:cs:counter
	sample  0 n1 disk/sda 7 10000
	sample 10 n1 disk/sda 7 6000
	sample 20 n1 disk/sda 7 7000
	sample  0 n1 cpu 7 500
	sample 10 n1 cpu 7 497
	sample 20 n1 cpu 7 517
	sample  0 n1 disk/sdc 7 4294967290
	sample 10 n1 disk/sdc 7 4
	sample 20 n1 disk/sdc 7 5004
	sample  0 n2 disk/sdb 7 3000000000
	sample 10 n2 disk/sdb 7 4096
	END
answer "what fell by more than a little started again" "n1,7000
n2,4096" columns node,disk_read_bytes poolscope-stats usage --format csv
poolscope-stats usage -n n1 --format csv >"$TMP/usage.csv"
answer "some ticks back are no CPU time" "0.2" /usr/bin/python3 -c 'import csv, sys
row = next(csv.DictReader(open(sys.argv[1])))
print(round(float(row["cpu_hours_unused"]) * 3600, 9))' "$TMP/usage.csv"
check "a trace of the milliseconds" \
	poolscope-trace --metric system.disk.io_time --step 10s -o "$TMP/trace.json"
answer "milliseconds of disks wrap after 32 bits" "[0.1, 50.0]" /usr/bin/python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
print([round(value, 9) for e in events if e["ph"] == "C" for value in e["args"].values()])' "$TMP/trace.json"
