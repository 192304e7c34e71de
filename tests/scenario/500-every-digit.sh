#!/bin/sh
# Sums are the same to the last digit, in steps of any length and in any order of nodes.
#
# n1 has 3 processors, and 361 samples 0.3 s apart: 108 s of three processors are 32,400
# ticks of 10 ms, of which it used 1,001 and idled 31,399, evenly but for the rounding down
# of each sample: 87 or 88 of 90 ticks, more than 95 %.  An hour is 360,000 ticks:
#
#	used	1001 / 360000		unused	31399 / 360000
#	idle	108 / 3600 = 0.03	seconds	108		processors 3
#
# A gauge is 1e25 on n1, 3 on n2 and -1e25 on n3, at 0 and at 10 s: its mean is 3 / 3 = 1.
# Another one is 0.1 at 0, 1 ... 60 s: 0.1.  Python divides whole numbers to the nearest double.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
/usr/bin/python3 -c '
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter"
      " system.cpu.logical.count:{cpu}:gauge")
print("group n1 app/far x:1:gauge")
print("group n1 app/even x:1:gauge")
for i in range(361):
    print("sample %.1f n1 cpu 7 %d %d 3" % (i * 3 / 10, i * 1001 // 360, i * 31399 // 360))
for node, x in ("n1", "1e25"), ("n2", "3.0"), ("n3", "-1e25"):
    print("sample 0 %s app/far %s" % (node, x))
    print("sample 10 %s app/far %s" % (node, x))
for t in range(61):
    print("sample %d n1 app/even 0.1" % t)' | records

# numbers NODE COLUMN...: of its rows, as many digits as they have.
numbers() {
	/usr/bin/python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
    if sys.argv[1] in ("", row["node"]):
        print(*(repr(float(row[name])) for name in sys.argv[2:]))' "$@"
}
use() {
	poolscope-stats usage --format json "$@" |
		numbers n1 cpu_hours_used cpu_hours_unused idle_hours seconds cpus
}
mean() {
	poolscope-stats samples --metric-group "$1" --format json | numbers "" mean
}
wanted=$(/usr/bin/python3 -c 'print(1001 / 360000, 31399 / 360000, 0.03, 108.0, 3.0)')
for step in 1s 2s 10s 30s 1m 10m 1h; do
	answer "in steps of $step" "$wanted" use --step $step
done
answer "far numbers do not hide near ones" 1.0 mean app/far
answer "the mean of one number is that number" 0.1 mean app/even
