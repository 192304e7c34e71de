#!/bin/sh
# A node with two processors.  It is sampled at 0, 10, dies, boots, and is sampled at 320 and
# 330: since its boot its processors did something for 610 s.  When between 10 and 320 that
# was is not known: it is spread over these 310 s.
#
# From 310 to 320 are 10 of the 310 s: 610 x 10 / 310 = 19.677 s, 0.005466 h; not 610 s, which
# two processors cannot do in 10 s; 9.8387 of them are of the job below.  All together: 10 + 610 + 10 s, 0.175 h.
#
# Job 1 has the node from 315 to 325: 5 of the 310 s, 9.8387 s, and half of the last 10 s,
# 5 s: 0.0041219 h.
#
# n2 has a disk whose counter began again: 5,000, then 3,100 ten seconds later.  From 5 to 10 it is
# half of what is known of the new one: 1,550 bytes.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge
	group n2 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter
	sample   0 n1 cpu 7 1000 0 2
	sample  10 n1 cpu 7 2000 0 2
	sample 320 n1 cpu 8 61000 0 2
	sample 330 n1 cpu 8 62000 0 2
	event 315 n1 job:start job=1
	event 325 n1 job:stop job=1
	sample   0 n2 disk/sda 7 5000
	sample  10 n2 disk/sda 7 3100
	END
# used ARGUMENT...: hours used, to four digits.
used() {
	columns node,job,cpu_hours_used poolscope-stats usage --format csv "$@" |
		awk -F, '{ printf "%s,%s,%.4g\n", $1, $2, $3 }'
}
answer "ten seconds of an interval with a boot" "n1,,0.005466
n1,1,0.002733" used -n n1 --from $((BASE + 310)) --to $((BASE + 320))
answer "a job that begins in it" "n1,1,0.004122" used --job 1
answer "all of it" "n1,,0.175
n1,1,0.004122" used -n n1
# hours FROM TO: used then.
hours() {
	columns cpu_hours_used poolscope-stats usage -n n1 --format csv --from $((BASE + $1)) --to $((BASE + $2)) | head -n 1
}
answer "windows that follow each other add up" "0.1750" sh -c "printf '%s\n' '$(hours 0 150)' '$(hours 150 310)' '$(hours 310 331)' |
	awk '{ sum += \$1 } END { printf \"%.4f\n\", sum }'"
answer "a counter that began again" "n2,1550" columns node,disk_read_bytes poolscope-stats usage -n n2 --from $((BASE + 5)) --to $((BASE + 10)) --format csv
