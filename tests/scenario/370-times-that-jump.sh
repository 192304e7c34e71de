#!/bin/sh
# Processor times as agents have stored them, of nodes with four processors: what
# four processors cannot do is unknown, whatever reads it.  Samples each 10 s; idle
# and user in ticks of 10 ms.
#
# slept: idle 8,640,000, then 2,160,000, then 2,163,000.  Its sum fell to a quarter;
# after that 30 s unused of 40.  user: 10 s, then 10 s.
#
# back: idle 2,160,000, then 8,640,000 (64,800 s in 10 s), then 8,643,000: 30 s
# unused.  user as above.
#
# moved: user 1,000, then 21,000 (200 s in 10 s: more than 40), then 22,000: 10 s.
# idle: 30 s twice.
#
# epoch: idle and user grow by 30 s and 10 s twice, but between the first two samples
# the agent saw other processors (the bits of boot above 48): once each.
#
# busy: nothing is wrong; 40 s and 39 s in 10 s, half a tick late: 79 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
epoch=$(((1 << 48) + 7))
{
	for node in slept back moved epoch busy; do
		echo "group $node cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge"
	done
	cat <<-END
		sample  0 slept cpu 7 1000 8640000 4
		sample 10 slept cpu 7 2000 2160000 4
		sample 20 slept cpu 7 3000 2163000 4
		sample  0 back cpu 7 1000 2160000 4
		sample 10 back cpu 7 2000 8640000 4
		sample 20 back cpu 7 3000 8643000 4
		sample  0 moved cpu 7 1000 2160000 4
		sample 10 moved cpu 7 21000 2163000 4
		sample 20 moved cpu 7 22000 2166000 4
		sample  0 epoch cpu 7 1000 2160000 4
		sample 10 epoch cpu $epoch 2000 2163000 4
		sample 20 epoch cpu $epoch 3000 2166000 4
		sample  0 busy cpu 7 1000 2160000 4
		sample 10 busy cpu 7 5000 2160000 4
		sample 20 busy cpu 7 8900 2160100 4
	END
} | records
# seconds COLUMN: of the usage of each node.
seconds() {
	poolscope-stats usage "$@" --format csv | /usr/bin/python3 -c '
import csv, sys
print(*("%s %g %g" % (r["node"], float(r["cpu_hours_used"] or "nan") * 3600, float(r["cpu_hours_unused"] or "nan") * 3600)
        for r in csv.DictReader(sys.stdin) if not r.get("job")), sep="\n")' | sort
}
wanted="back 20 30
busy 79 1
epoch 10 30
moved 10 60
slept 20 30"
answer "used and unused seconds" "$wanted" seconds
# A minute has all three samples, of which two are wrong: what is between the other two counts.
answer "the same in steps of a minute" "$wanted" seconds --step 1m
answer "the same as the first of a day" "$wanted" seconds --from "$(at -100)" --to "$(at 86000)"
# The idle time of back, and the user time of moved; that of slept is that of a counter that
# started again.
left_out() {
	field notes/0/text poolscope-stats usage --format json "$@"
}
note='"left out: 2 times of processors between two samples, of which back and 1 other node cannot have so much, such as after a sleep of the host"'
answer "what is left out is in a note" "$note" left_out
answer "... once, whatever the step" "$note" left_out --step 1m
answer "... and only of the nodes that were asked for" "[]" field notes poolscope-stats usage --format json -n busy
