#!/bin/sh
# What appears late, and what comes and goes, on nodes that sample each 10 s.
#
# n1's disk sdb is plugged in at 300 s and counts from 0, but its first sample says 50,000
# bytes: what it read before is not known.  Until it is pulled out, at 600 s, it reads
# 1,000 bytes a second: 300,000 more.  At 900 s a disk is plugged in again as sdb, and its
# first sample says 7,000: less than the 350,000 of the old one, so it started again and has
# read 7,000; then 100 bytes a second until 1000 s: 10,000.
#	300,000 + 7,000 + 10,000 = 317,000
# In the window from 300 to 600 s: 300,000; from 900 to 1000 s: 10,000.  The new disk's
# 7,000 were read at any time before 900 s: they are counted just before that sample.
#
# n2 boots again at 500 s: its boot is another one, and its processor has counted 2,000
# ticks = 20 s since then when the sample at 530 s comes.  Until 500 s it worked all the
# time, 500 s; then from 530 to 600 s, 70 s.  500 + 20 + 70 = 590 s.  From 530 s on: 70.
#
# n3's agent was away from 200 to 500 s, and its counter went on: 300 s of work in
# between, which is spread evenly: 100 s of it lie from 250 to 350 s.
#
# n4 has a single sample: of counters nothing is known, but of memory the peak.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 - <<'END' | records
print("group n1 disk/sdb poolscope.boot:1:gauge system.disk.io.read:By:counter")
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter")
print("group n1 memory system.memory.usage.used:By:gauge")
for t in range(300, 601, 10):
    print("sample", t, "n1 disk/sdb 7", 50000 + 1000 * (t - 300))
for t in range(900, 1001, 10):
    print("sample", t, "n1 disk/sdb 7", 7000 + 100 * (t - 900))
for t in range(0, 501, 10):
    print("sample", t, "n2 cpu 7", 100 * t)
for t in range(530, 601, 10):
    print("sample", t, "n2 cpu 8", 2000 + 100 * (t - 530))
for t in [*range(0, 201, 10), *range(500, 601, 10)]:
    print("sample", t, "n3 cpu 7", 100 * t)
print("sample 100 n4 cpu 7 100")
print("sample 100 n4 memory 4096")
END
# used NODE ARGUMENT...: bytes read, CPU seconds, memory.
used() {
	_node=$1
	shift
	poolscope-stats usage -n "$_node" --format csv "$@" >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    seconds = row["cpu_hours_used"]
    print(row["disk_read_bytes"] and round(float(row["disk_read_bytes"]), 6) or "-",
          seconds and round(float(seconds) * 3600, 6) or "-",
          row["memory_peak_bytes"] or "-")' "$TMP/use.csv"
}
answer "a disk that comes, goes and comes" "317000.0 - -" used n1
answer "its first time" "300000.0 - -" used n1 --from "$(at 300)" --to "$(at 600)"
answer "its second time" "10000.0 - -" used n1 --from "$(at 900)" --to "$(at 1000)"
answer "the time before that" "307000.0 - -" used n1 --from "$(at 0)" --to "$(at 900)"
answer "a reboot" "- 590.0 -" used n2
answer "since its first sample" "- 70.0 -" used n2 --from "$(at 530)" --to "$(at 700)"
answer "an agent that was away" "- 600.0 -" used n3
answer "a part of that time" "- 100.0 -" used n3 --from "$(at 250)" --to "$(at 350)"
answer "a single sample" "- - 4096" used n4
