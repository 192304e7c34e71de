#!/bin/sh
# Units as people read them.  Two nodes, samples each 10 s from second 0 to 60:
#
#   n4 has 4 processors: user time grows by 20 s in 10 s, so 2 of 4 work: 50 %.
#   n8 has 8: user time grows by 20 s, 2 of 8: 25 %.
#   Processor 0 of n4: 7 s in 10 s, 70 %.
#   The control group of a job on n4: 15 s in 10 s, 1.5 processors.
#   Pressure: 100,000 us in 10 s, 1 % of the time.
#   A program on n4 counts seconds of its own, 30 s in 10 s: no processors, 3.
#   A card: 2,000,000 mJ in 10 s, 200 W.
#   A disk of n4 reads 20 MiB in 10 s: 2 MiB/s.
#   Memory: 64 GiB; and a duration of 300 s, 5 min.
#   n4 gets 8 processors at second 60 (samples at 60, 70): from then on 2 of 8, 25 %.
#
# A table has bytes and times by size, in powers of 1024; other formats plain numbers.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
awk 'BEGIN {
	cpu = "poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.logical.count:{cpu}:gauge"
	print "group n4 cpu " cpu
	print "group n8 cpu " cpu
	print "group n4 cpu/0 poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
	print "group n4 cgroup/job poolscope.boot:1:gauge container.cpu.time:us:counter"
	print "group n4 pressure poolscope.boot:1:gauge system.linux.pressure.io.some:us:counter"
	print "group n4 app/p poolscope.boot:1:gauge app.busy:s:counter app.took:s:gauge"
	print "group n4 gpu/0 poolscope.boot:1:gauge hw.energy:mJ:counter"
	print "group n4 disk/sda poolscope.boot:1:gauge system.disk.io.read:By:counter"
	print "group n4 memory system.memory.limit:By:gauge"
	for (k = 0; k <= 6; k++) {
		t = 10 * k
		print "sample " t " n4 cpu 7 " 2000 * k " 4"
		print "sample " t " n8 cpu 7 " 2000 * k " 8"
		print "sample " t " n4 cpu/0 7 " 700 * k
		print "sample " t " n4 cgroup/job 7 " 15000000 * k
		print "sample " t " n4 pressure 7 " 100000 * k
		print "sample " t " n4 app/p 7 " 30 * k " 300"
		print "sample " t " n4 gpu/0 7 " 2000000 * k
		print "sample " t " n4 disk/sda 7 " 20971520 * k
		print "sample " t " n4 memory 68719476736"
	}
}' | records

# of METRIC [OPTION...]: unit and mean, of each row.
of() {
	_metric=$1
	shift
	poolscope-stats samples -m "$_metric" --format csv --columns unit,mean "$@" | tr -d '\r' |
		awk -F, 'NR > 1 { printf "%s%s,%.6g", (NR > 2) ? " " : "", $1, $2 }'
}
check_text "processors of nodes are in per cent of theirs" "%,50 %,25" "$(of system.cpu.time.user --by node --metric-group cpu)"
check_text "... of one processor in per cent of it" "%,70" "$(of system.cpu.time.user --metric-group cpu/0)"
check_text "... of a job in processors" "{cpu},1.5" "$(of container.cpu.time)"
check_text "pressure is a share of the time" "%,1" "$(of system.linux.pressure.io.some)"
check_text "seconds of a program are a number" "1,3" "$(of app.busy)"
check_text "energy is power" "W,200" "$(of hw.energy)"
check_text "bytes are plain for programs" "By/s,2.09715e+06 By,6.87195e+10" \
	"$(of system.disk.io.read) $(of system.memory.limit)"
check "a table" poolscope-stats samples -n n4
check_printed "... has rates of bytes in powers of 1024" "system.disk.io.read .* 2.0 MiB/s"
check_printed "... bytes" "system.memory.limit .* 64.0 GiB"
check_printed "... and times by size" "app.took .* 300.0 s"
check_text "nothing is in seconds a second" "" "$(poolscope-stats samples | grep 's/s')"

# The same in series, pictures and traces.  Counters have steps of their period.
check_text "a series" "%,10,6" "$(columns unit,step,steps poolscope-stats series \
	-m system.cpu.time.user --metric-group cpu -n n4 --table lines --format csv | xargs)"
check "a picture" poolscope-plot samples -m system.cpu.time.user --metric-group cpu --no-png -q -o "$TMP/pictures"
check "... is in per cent" grep -q "of the node.*s processors" "$TMP/pictures/acct-pool-system.cpu.time.user-cpu.plot"
check_text "... and draws steps of 10 s as they are" "50 50 50 50 50 50" \
	"$(awk '/^#/ { node = $2 } /^[0-9]/ && node == "time" { print $2 }' "$TMP/pictures/acct-pool-system.cpu.time.user-cpu.dat" | head -6 | xargs)"
check "... with steps" grep -q "with steps" "$TMP/pictures/acct-pool-system.cpu.time.user-cpu.plot"
check "a picture of a disk" poolscope-plot samples -m system.disk.io.read --no-png -q -o "$TMP/pictures"
disk=$(echo "$TMP/pictures/acct-pool-system.disk.io.read-disk"*.plot)
check "... is in bytes" grep -q '"bytes per second"' "$disk"
check "... of 1024" grep -q 'MiB' "$disk"
check "a trace" poolscope-trace -q --metric system.cpu.time.user --metric container.cpu.time -o "$TMP/trace.json"
check_text "... has the same units" "% 25.0 % 50.0 % 70.0 {cpu} 1.5" "$(/usr/bin/python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
print(*sorted({"%s %s" % (unit, round(value, 6)) for e in events if e["ph"] == "C" for unit, value in e["args"].items()}))' "$TMP/trace.json")"

# The node gets processors.
awk 'BEGIN {
	print "group n4 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.logical.count:{cpu}:gauge"
	for (k = 6; k <= 12; k++) print "sample " 10 * k + 5 " n4 cpu 7 " 2000 * k + 1000 " 8"
}' | records
check_text "the number of processors is that of the time" "%,25" \
	"$(of system.cpu.time.user --by node --metric-group cpu -n n4 --from "$(at 75)")"
stop aggregator
