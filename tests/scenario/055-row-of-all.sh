#!/bin/sh
# n1 waited 10 s for a processor and 3 s for memory, n2 8 s for memory and 1 s for a
# processor.  The longest wait of each node: 10 and 8.  The row of all adds up the column:
# 18, although its longest wait of one kind is 11.
#
# Bytes read add up, 100 + 200 = 300.  The peak of memory does not: 500 and 900 give 900.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 pressure poolscope.boot:1:gauge system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter
	group n1 memory system.memory.usage.used:By:gauge
	group n1 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter
	sample   0 n1 pressure 7 0 0
	sample   0 n2 pressure 7 0 0
	sample   0 n1 memory 500
	sample   0 n2 memory 900
	sample   0 n1 disk/sda 7 0
	sample   0 n2 disk/sda 7 0
	sample 100 n1 pressure 7 10000000 3000000
	sample 100 n2 pressure 7 1000000 8000000
	sample 100 n1 disk/sda 7 100
	sample 100 n2 disk/sda 7 200
END
# rows: name, memory, read, wait of each.
rows() {
	poolscope-stats usage --format json >"$TMP/use.json" || return
	/usr/bin/python3 -c 'import json, sys
use = json.load(open(sys.argv[1]))
for row in use["rows"] + use["all"]:
    print(row["node"] or "all", row["memory_peak_bytes"], row["disk_read_bytes"], row["pressure_seconds"])' "$TMP/use.json"
}
answer "the columns add up, but for peaks" "n1 500 100 10.0
n2 900 200 8.0
all 900 300 18.0" rows
answer "... also if one row is shown" "all 900 300 18.0" sh -c 'poolscope-stats usage --top 1 --format csv --table all |
	python3 -c "import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row[\"node\"] or \"all\", row[\"memory_peak_bytes\"], row[\"disk_read_bytes\"], row[\"pressure_seconds\"])"'
answer "a table ends with it" "all 18.00" sh -c 'poolscope-stats usage | awk "/^all\$/ { name = \$1 } END { print name, \$NF }"'
answer "... if it has several nodes" "10.00" sh -c 'poolscope-stats usage -n n1 | awk "END { print \$NF }"'
