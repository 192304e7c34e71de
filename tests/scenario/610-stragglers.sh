#!/bin/sh
# Which nodes were slow in a start, and why.  14 nodes are prepared 0-10, then they load an
# image: n01 to n13 for 20 to 24 s (21 22 23 24 20 21 22 23 24 20 21 22 23), n14 for 60 s.
#
#	In order: 20 20 21 21 21 22 22 22 23 23 23 24 24 60.  The median is 22, so n14 lost
#	38 s.  Above the median are 23 23 23 24 24 60; the median of their distances is that
#	of 23 and 24: (ln(23/22) + ln(24/22)) / 2 = 0.0657, the spread 1.4826 times that, and
#	n14 is ln(60/22) = 1.003 above, which is 10.3 spreads.
#	It is ready at 70, the others at 34 at the latest: had it taken 22 s, the pool had
#	been ready at 34, 36 s earlier.
#
# Each pool differs in what was measured on n14 while it loaded, a sample each second:
#
#	disk	tasks waited for a disk 70 % of the time, on all others 10 %: 0.6 x 60 =
#		36 s, which is 36/38 of what it lost.  So data came slowly, too.
#	data	no more waiting than on others, but 3.5 MB/s instead of 10: the 210 MB would
#		have come in 21 s of the 60; more than 38 s are not lost
#	bytes	600 MB instead of 10 x 22 = 220: 380 / 10 = 38 s
#	memory	tasks waited for memory 40 % of the time: 24 s of 38, and for a disk 60 %,
#		50 % more than others: 30 s, of which 24 are memory's; 6 of 38 are too few
#	two	for a processor 40 %: 24 s; for a disk 40 %, 30 % more than others: 18 s; both
#		are more than was lost (42 of 38), so they share it: 24/42 and 18/42
#	same	nothing differs
#	none	n14 has no samples
#	brief	it has one at 0, and then each 45 s: one in the time, which covers more than half of it
#	edges	as disk, with a sample each 20 s, at 0, 20, 40 and 60: of the 50 s from 10 on that are
#		covered it waited, by half of what was counted from 0 to 20, 4 + 14 + 14 = 32 s, which
#		is 64 %: 0.54 x 60 = 32.4 s of 38
#	set	as disk, and its clock was set by 38 s, a minute before it began to load
#	carried	as data, and the same bytes once more on a bridge that carries eth0
#	stolen	the host took 60 % of each of 8 processors: 36 s of 38
#	tenth	the host took 10 % of each: 6 s, too few, and data came slowly
#	late	as disk, and n14 begins 100 s later; it is ready at 170.  Had it begun when the
#		others did, at 70: 100 s earlier.  Had it taken 22 s: 38 s earlier.
#	around	both lie in a phase of the whole: what it lost is that of the load
#	later	as disk, and n14 begins 15 s later, which is not late; ready at 85, or at 47
#	twice	as disk, and n13 is prepared a second time 100-110: it began at 0
#	nested	the load is all of a part, that is in the whole, which n14 ends 12 s later than its
#		load: 82 s instead of 32.  12 s are lost besides.
#	begun	as disk, and m01 to m12 are loading since 2 s: that is no usual time
#	few	11 nodes: n04 to n14
#	open	n14 does not end; its last record is of 70
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model pool <<-'END'
	phase "whole" {
		start = "whole:start"
		end = "whole:end"
	}
	phase "part" {
		start = "part:start"
		end = "part:end"
	}
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
	phase "load" {
		start = "load:start"
		end = "load:end"
		key = "img"
		required = true
		after = { "prep" }
	}
END
aggregate --models "$TMP/models"

# pool NAME FIRST LATE CPU MEMORY DISK MB [PERIOD]: the shares, and MB a second, of n14 while it loads
pool() {
	PARTITION="acct\$$1"
	awk -v name="$1" -v first="$2" -v late="$3" -v cpu="$4" -v memory="$5" -v disk="$6" -v mb="$7" -v period="${8:-1}" 'BEGIN {
	for (i = first; i <= 14; i++) {
		node = sprintf("n%02d", i)
		begin = i == 14 ? late : 0
		length_ = i == 14 ? 60 : 20 + i % 5
		around = name == "around" || name == "nested"
		if (around) print "event", begin, node, "whole:start"
		if (name == "nested") print "event", begin + 10, node, "part:start"
		print "event", begin, node, "prep:start"
		print "event", begin + 10, node, "prep:end"
		print "event", begin + 10, node, "load:start img=redis"
		if (name != "open" || i < 14) print "event", begin + 10 + length_, node, "load:end img=redis"
		if (name == "nested") print "event", begin + 10 + length_, node, "part:end"
		if (around) print "event", begin + 10 + length_ + (name == "nested" && i == 14 ? 12 : 0), node, "whole:end"
		if (name == "twice" && i == 13) print "event 100", node, "prep:start\nevent 110", node, "prep:end"
		if (i == 14 && name == "none") continue
		print "group", node, "pressure system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter system.linux.pressure.io.some:us:counter"
		if (name == "set" && i == 14) {
			print "group", node, "clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge" \
				" poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge" \
				" poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge" \
				" poolscope.clock.generation.begin:ns:gauge"
			for (t = -98; t <= 70; t += 5) {
				is_set = t > -55
				print "sample", t, node, "clock", (is_set ? 0 : "38000000000"), 1000000, 0, 0, 2000000, 65536 + is_set, \
					(is_set ? "1699999945000000000" : "1699999000000000000")
			}
		}
		if (name == "carried") print "group", node, "network/br0 system.network.io.receive:By:counter system.network.physical:1:gauge"
		print "group", node, "cpu system.cpu.time.idle:cs:counter system.cpu.time.steal:cs:counter system.cpu.time.user:cs:counter"
		if (name != "same") print "group", node, "network/eth0 system.network.io.receive:By:counter"
		taken = name == "stolen" ? 0.6 : name == "tenth" ? 0.1 : 0
		c = m = d = bytes = stolen = 0
		for (t = begin - 40; t <= begin + 70; t++) {
			loads = i == 14 && t > begin + 10 && t <= begin + 70
			c += loads ? cpu : 0.02
			m += loads ? memory : 0
			d += loads ? disk : 0.1
			stolen += loads ? 8 * taken : 0
			bytes += loads ? mb * 1e6 : 1e7
			if ((t - begin) % (i == 14 ? period : 1) != 0)
				continue
			print "sample", t, node, "pressure", c * 1e6, m * 1e6, d * 1e6
			print "sample", t, node, "cpu", 100 * (t + 50), 100 * stolen, (taken > 0 ? 100 * (8 * (t + 50) - stolen) : 0)
			if (name != "same") print "sample", t, node, "network/eth0", bytes
			if (name == "carried") print "sample", t, node, "network/br0", bytes, 0
		}
	}
	for (i = 1; i <= 12 && name == "begun"; i++) {
		node = sprintf("m%02d", i)
		print "event 0", node, "prep:start\nevent 10", node, "prep:end"
		print "event 68", node, "load:start img=redis\nevent 70", node, "other:one"
	} }' CONVFMT=%.0f OFMT=%.0f | records
	wait_until indexed 30
}
# rows NAMES POOL [OPTION...]: columns; shares have three digits behind the point
rows() {
	_pool=$2
	_columns=$1
	shift 2
	columns "$_columns" poolscope stats stragglers --format csv -p "acct\$$_pool" "$@" >"$TMP/rows" &&
		sed -E 's/,(0\.[0-9]{3})[0-9]+,/,\1,/; s/,1\.0,/,1,/' "$TMP/rows"
}
stragglers() {
	rows node,phase,key,time,usual,lost,drag,cause,share,why "$@"
}
LOAD=n14,pool:load,redis,60,22,38,36

pool disk 1 0 0.02 0 0.7 3.5
answer "a slow disk is not the network" "$LOAD,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" stragglers disk
answer "... and its metric proves it" "system.linux.pressure.io.some,1" rows metric,unit disk
pool data 1 0 0.02 0 0.1 3.5
answer "data came slowly" "$LOAD,data,1,data came at 3.3 MiB/s, to others at 9.5 MiB/s: network or registry, nothing on the node" \
	stragglers data
pool bytes 1 0 0.02 0 0.1 10
answer "more to fetch" "$LOAD,bytes,1,it had 572.2 MiB to receive, others 209.8 MiB" stragglers bytes
pool memory 1 0 0.02 0.4 0.6 3.5
answer "swapping is memory" "$LOAD,memory,0.631,tasks waited for memory 40 % of the time, others 0 %" stragglers memory
answer "... and what explains little is not reported" "n14,memory,0.631,24" rows node,cause,share,explained memory --table causes
pool two 1 0 0.42 0 0.4 3.5
answer "two causes share it" "n14,cpu,0.571,tasks waited for a processor 42 % of the time, others 2 %
n14,disk,0.428,tasks waited for a disk 40 % of the time, others 10 %" rows node,cause,share,why two --table causes
pool same 1 0 0.02 0 0.1 0
answer "nothing differs" "$LOAD,unknown,,nothing that is measured differs" stragglers same
pool none 1 0 0.02 0 0.7 3.5
answer "no samples" "$LOAD,unmeasured,,there are no samples of the node in this time" stragglers none
pool brief 1 0 0.02 0 0.7 3.5 45
answer "too few samples" "$LOAD,unmeasured,,there are too few samples of the node in this time" stragglers brief
pool edges 1 0 0.02 0 0.7 3.5 20
answer "samples beyond the edges" "$LOAD,disk,0.852,tasks waited for a disk 64 % of the time, others 10 %" stragglers edges
pool set 1 0 0.02 0 0.7 3.5
answer "a clock that was set before" "$LOAD,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" stragglers set
pool carried 1 0 0.02 0 0.1 3.5
answer "what carries another counts once" "$LOAD,data,1,data came at 3.3 MiB/s, to others at 9.5 MiB/s: network or registry, nothing on the node" \
	stragglers carried
pool stolen 1 0 0.02 0 0.1 3.5
answer "all processors were taken" "$LOAD,stolen,0.947,the host took its processors 60 % of the time, others 0 %" stragglers stolen
pool tenth 1 0 0.02 0 0.1 3.5
answer "a tenth of each of eight processors is little" "data" rows cause tenth
pool late 1 100 0.02 0 0.7 3.5
answer "a late begin and a slow disk" "n14,pool:prep,,100,0,100,100,began,1,it began 100.0 s after the start, others 0 s
n14,pool:load,redis,60,22,38,38,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" stragglers late
pool around 1 0 0.02 0 0.7 3.5
answer "what is around it" "$LOAD,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" stragglers around
DISK="disk,0.947,tasks waited for a disk 70 % of the time, others 10 %"
pool later 1 15 0.02 0 0.7 3.5
answer "fifteen seconds are not late" "n14,pool:load,redis,60,22,38,38,$DISK" stragglers later
pool twice 1 0 0.02 0 0.7 3.5
answer "a node begins once" "$LOAD,$DISK" stragglers twice
pool nested 1 0 0.02 0 0.7 3.5
answer "what is lost besides" "n14,pool:load,60,22,38
n14,pool:whole,82,32,50" rows node,phase,time,usual,lost nested
pool begun 1 0 0.02 0 0.7 3.5
answer "what has just begun" "n14,pool:load,60,22,38" rows node,phase,time,usual,lost begun
pool few 4 0 0.02 0 0.7 3.5
answer "eleven nodes" "" stragglers few
check "..." poolscope stats stragglers -p 'acct$few'
check_printed "... has a sentence" "^no node was slow that can be judged$"
check_printed "... and why not all can" "cannot judge .* phases: fewer than 12 nodes had them in this start, and these nodes fewer than"
check_text "... without a table no line is empty but that below the title" 1 "$(grep -c '^$' "$TMP/out")"
pool open 1 0 0.02 0 0.7 3.5
answer "no end" "n14,pool:load,redis,60,22,38,,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" stragglers open
answer "a higher bound" "" stragglers disk --least 39s
answer "... of the ratio" "" stragglers disk --ratio 2.8
answer "... of the spread" "" stragglers disk --spreads 10.4
answer "... and just below" "$LOAD,disk,0.947,tasks waited for a disk 70 % of the time, others 10 %" \
	stragglers disk --least 37s --ratio 2.7 --spreads 10.2
answer "another node" "" stragglers disk --node 'n0*'
check_status 2 "no number" poolscope stats stragglers -p 'acct$disk' --ratio x
