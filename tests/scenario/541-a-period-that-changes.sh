#!/bin/sh
# An agent samples every second while its node starts, then every ten (--dense), and again
# every second when a job begins.
#
# n1 uses 1000 bytes of memory at 0, 1 ... 9 s, 3000 at 10, 20, 30 and 40 s, 5000 at 43 s,
# when the job's first sample comes, and at 44 and 45 s.  By time, a value until the next,
# the last one as long as the one before it:
#	(10 x 1000 + 33 x 3000 + 3 x 5000) / 46 = 124000 / 46 = 2695.65
# (by sample it would be 2176).
#
# It reads 100 By/s until 10 s, 10 By/s until 40 s, 200 By from then to 43 s, and 100 By/s
# until 45 s: 1000 + 300 + 200 + 200 = 1700 By in 45 s.
#	rates: 10 of 100, 3 of 10, 1 of 200/3, 2 of 100; their mean by time is 1700/45 = 37.78
# In steps of 10 s: 1000, 100, 100, 100 By, and 400 in the last one's five seconds, 80 By/s.
# From 5 to 42 s it reads 500 + 300 + 2/3 of 200 = 933.33 By; with from 42 s on, 66.67 + 200,
# and before 5 s, 500, this is the whole again.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
{
	echo "group n1 stock memory.used:By:gauge"
	echo "group n1 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter"
	for t in 0 1 2 3 4 5 6 7 8 9 10 20 30 40 43 44 45; do
		memory=1000
		[ $t -lt 10 ] || memory=3000
		[ $t -lt 43 ] || memory=5000
		read=$((t * 100))
		[ $t -lt 20 ] || read=$((1000 + (t - 10) * 10))
		[ $t -lt 43 ] || read=$((1500 + (t - 43) * 100))
		echo "sample $t n1 stock $memory"
		echo "sample $t n1 disk/sda 7 $read"
	done
} | records

# near FIELD COMMAND...: of the first row, to two places.
near() {
	_where=$1
	shift
	"$@" --format json | /usr/bin/python3 -c 'import json, sys
print("%.2f" % json.load(sys.stdin)["rows"][0][sys.argv[1]])' "$_where"
}
answer "the mean of a gauge is by time" "2695.65" near mean poolscope-stats samples -m memory.used
answer "... so is that of a rate" "37.78" near mean poolscope-stats samples -m system.disk.io.read
answer "rates stand for the time between their samples" "16,10.0,100.0" \
	columns count,min,max poolscope-stats samples -m system.disk.io.read --format csv
answer "in equal steps" "100.0
10.0
10.0
10.0
80.0" columns mean poolscope-stats series -m system.disk.io.read --from "$(at 0)" --to "$(at 50)" --step 10s --format csv
answer "the whole of what was read" "1700.00" near disk_read_bytes poolscope-stats usage
answer "a window that cuts both changes" "933.33" near disk_read_bytes poolscope-stats usage \
	--from "$(at 5)" --to "$(at 42)"
answer "... before it" "500.00" near disk_read_bytes poolscope-stats usage --to "$(at 5)"
answer "... and behind it" "266.67" near disk_read_bytes poolscope-stats usage --from "$(at 42)"
