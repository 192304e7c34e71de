#!/bin/sh
# Every number of the sampler under the name of its column: a host of files in
# which no number is there twice.  Then the same host with an older kernel, or
# in a sandbox, which lacks lines and files: what is not there is unknown.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HOST=$TMP/proc SYS=$TMP/sys CGROUPS=$TMP/cgroup
mkdir -p "$HOST/pressure" "$HOST/self" "$HOST/net" "$HOST/sys/kernel/random" \
	"$SYS/block/sda/device" "$SYS/class/net/eth0/device" "$SYS/class/net/br0" "$CGROUPS/docker/a" "$HOST/71"

cat >"$HOST/stat" <<'END'
cpu  101 102 103 104 105 106 107 108 109 110
cpu0 11 12 13 14 15 16 17 18 19 20
cpu1 90 91 92 93 94 95 96 97 98 99
ctxt 7701
processes 7702
procs_running 73
procs_blocked 74
END
cat >"$HOST/meminfo" <<'END'
MemTotal:        1000000 kB
MemFree:          100000 kB
MemAvailable:     500000 kB
Buffers:           20000 kB
Cached:           300000 kB
Shmem:             60000 kB
Dirty:                70 kB
SReclaimable:      40000 kB
SUnreclaim:        50000 kB
SwapTotal:          8000 kB
SwapFree:           3000 kB
END
echo '0.51 0.42 0.33 1/209 99' >"$HOST/loadavg"
cat >"$HOST/vmstat" <<'END'
pgfault 1000
pgmajfault 31
pswpin 32
pswpout 33
pgscan_kswapd 34
pgscan_direct 400
pgsteal_kswapd 36
pgsteal_direct 500
compact_stall 38
oom_kill 39
numa_pages_migrated 40
END
# Per processor: run 5000 and 5001, delay 600 and 601, slices 70 and 71; awakened 30,
# of these 10 here; one domain, whose fifth columns are 1, 2, 3.
cat >"$HOST/schedstat" <<'END'
version 15
cpu0 0 0 0 0 30 10 5000 600 70
domain0 3 0 0 0 0 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 3 0 0 0
cpu1 0 0 0 0 30 10 5001 601 71
END
i=51
for each in cpu memory io; do
	printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=%s\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=%s\n' \
		$i $((i + 10)) >"$HOST/pressure/$each"
	i=$((i + 1))
done
echo '01234567-89ab-cdef-0123-456789abcdef' >"$HOST/sys/kernel/random/boot_id"
echo '   8       0 sda 201 202 203 204 205 206 207 208 209 210 211' >"$HOST/diskstats"
printf 'a\nb\n eth0: 301 302 303 304 0 0 0 0 309 310 311 312 0 0 0 0\n br0: 401 402 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n tun9: 501 502 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n' >"$HOST/net/dev"
: >"$HOST/self/mountinfo"
(
	cd "$CGROUPS/docker/a" || exit
	printf 'usage_usec 601\nuser_usec 602\nsystem_usec 603\nnr_throttled 604\nthrottled_usec 605\n' >cpu.stat
	echo 606 >memory.current
	echo 607 >memory.peak
	printf 'high 1\nmax 2\noom_kill 608\n' >memory.events
	printf '8:0 rbytes=600 wbytes=610 rios=611 wios=612\n8:16 rbytes=9 wbytes=0 rios=0 wios=0\n' >io.stat
	echo 613 >pids.current
	i=614
	for each in cpu memory io; do
		echo "some avg10=0.00 avg60=0.00 avg300=0.00 total=$i" >$each.pressure
		i=$((i + 1))
	done
	echo 71 >cgroup.procs
)
page=$(getconf PAGESIZE)
# The state, then 10 columns up to the processor times: 701 and 702; 3 threads;
# 704 pages.
echo '71 (job) S 1 1 1 0 -1 0 0 0 0 0 701 702 0 0 20 0 3 0 9 0 704 0 0' >"$HOST/71/stat"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

# sampled PARTITION NUMBER: an agent until it has sampled itself.
sampled() {
	rm -rf "$DIR/spool"
	start agent poolscope-agent -p "$1" -n n1 --no-clock --proc "$HOST" --sys "$SYS" \
		--cgroup-root "$CGROUPS" --cgroups 'docker/*' --period 100ms --send-interval 100ms \
		--metric-groups all
	wait_until "poolscope-dump -q -p '$1' --kind sample --name 'process/*' | grep -q job &&
		poolscope-dump -q -p '$1' --kind sample --name perf | grep -q perf &&
		poolscope-dump -q -p '$1' --kind sample --name self | grep -q self" 30
	stop agent
	poolscope-dump -q -p "$1" --kind sample --format long >"$TMP/long"
}
# values GROUP METRIC...: the last ones, "METRIC VALUE" each; "-" if unknown.
values() {
	/usr/bin/python3 -c '
import csv, sys
last = {}
for r in csv.DictReader(open(sys.argv[1])):
    if r["group" if "group" in r else "name"] == sys.argv[2]:
        last[r["metric"]] = r["value"] or "-"
for metric in sys.argv[3:]:
    print(metric, last.get(metric, "none"))' "$TMP/long" "$@"
}
value() {
	values "$@" | cut -d" " -f2
}
# expect GROUP, and lines of a metric and its value
expect() {
	cat >"$TMP/wanted"
	# shellcheck disable=SC2046 # words
	check_text "the numbers of $1" "$(cat "$TMP/wanted")" \
		"$(values "$1" $(cut -d" " -f1 "$TMP/wanted"))"
}

sampled 'a$all'
check_text "the labels of the groups of one device" 'cgroup/docker/a {"process.linux.cgroup":"docker/a"}
cpu/1 {"cpu.logical_number":"1"}
disk/sda {"system.device":"sda"}
memory none
network/eth0 {"network.interface.name":"eth0"}
process/job {"process.executable.name":"job"}' "$(/usr/bin/python3 -c '
import csv, sys
print("\n".join(sorted({r["group"] + " " + (r["labels"] or "none") for r in csv.DictReader(open(sys.argv[1]))
                        if r["group"] in sys.argv[2:]})))' "$TMP/long" cgroup/docker/a cpu/1 disk/sda memory network/eth0 process/job)"
boot=$((0x0123456789ab))
kib=1024
expect cpu <<END
poolscope.boot $boot
system.cpu.time.user 101
system.cpu.time.nice 102
system.cpu.time.system 103
system.cpu.time.idle 104
system.cpu.time.iowait 105
system.cpu.time.interrupt 106
system.cpu.time.softirq 107
system.cpu.time.steal 108
system.cpu.logical.count 2
system.cpu.context_switches 7701
END
expect cpu/1 <<END
poolscope.boot $boot
system.cpu.time.user 90
system.cpu.time.nice 91
system.cpu.time.system 92
system.cpu.time.idle 93
system.cpu.time.iowait 94
system.cpu.time.interrupt 95
system.cpu.time.softirq 96
system.cpu.time.steal 97
END
# Shared memory is counted as cached by the kernel, but it is used: 1,000,000 -
# 100,000 - 20,000 - (300,000 + 40,000 - 60,000) = 600,000.
expect memory <<END
system.memory.limit $((1000000 * kib))
system.memory.usage.used $((600000 * kib))
system.memory.usage.free $((100000 * kib))
system.memory.usage.buffers $((20000 * kib))
system.memory.usage.cached $((280000 * kib))
system.linux.memory.available $((500000 * kib))
system.linux.memory.slab.reclaimable $((40000 * kib))
system.linux.memory.slab.unreclaimable $((50000 * kib))
system.memory.shared $((60000 * kib))
system.linux.memory.dirty $((70 * kib))
system.paging.usage.used $((5000 * kib))
system.paging.usage.free $((3000 * kib))
END
expect load <<END
system.cpu.load_average.1m 0.51
system.cpu.load_average.5m 0.42
system.cpu.load_average.15m 0.33
system.process.count.running 73
system.process.count.blocked 74
system.thread.count 209
system.process.created 7702
END
expect vmstat <<END
system.paging.faults.minor 969
system.paging.faults.major 31
system.paging.operations.in 32
system.paging.operations.out 33
system.linux.memory.scanned 434
system.linux.memory.reclaimed 536
system.linux.memory.reclaimed.direct 500
system.linux.memory.compaction_stalls 38
system.linux.memory.oom_kills 39
system.linux.memory.numa_migrated 40
END
expect pressure <<END
system.linux.pressure.cpu.some 51
system.linux.pressure.memory.some 52
system.linux.pressure.memory.full 62
system.linux.pressure.io.some 53
system.linux.pressure.io.full 63
END
expect schedstat <<END
system.linux.scheduler.run_time 10001
system.linux.scheduler.run_delay 1201
system.linux.scheduler.timeslices 141
system.linux.scheduler.remote_wakeups 40
system.linux.scheduler.migrations 6
END
# Sectors have 512 bytes.
expect disk/sda <<END
system.disk.io.read $((203 * 512))
system.disk.io.write $((207 * 512))
system.disk.operations.read 201
system.disk.operations.write 205
system.disk.merged.read 202
system.disk.merged.write 206
system.disk.operation_time.read 204
system.disk.operation_time.write 208
system.disk.io_time 210
system.disk.weighted_io_time 211
system.disk.pending_operations 209
END
expect network/eth0 <<END
system.network.io.receive 301
system.network.io.transmit 309
system.network.packet.count.receive 302
system.network.packet.count.transmit 310
system.network.errors.receive 303
system.network.errors.transmit 311
system.network.packet.dropped.receive 304
system.network.packet.dropped.transmit 312
system.network.physical 1
END
check_text "a bridge is not physical" 0 "$(value network/br0 system.network.physical)"
check_text "of an interface that /sys does not have it is unknown" - \
	"$(value network/tun9 system.network.physical)"
expect cgroup/docker/a <<END
container.cpu.time 601
container.cpu.time.user 602
container.cpu.time.system 603
container.cpu.time.throttled 605
container.memory.usage 606
container.memory.peak 607
container.memory.oom_kills 608
container.disk.io.read 609
container.disk.io.write 610
container.disk.operations.read 611
container.disk.operations.write 612
container.process.count 613
container.pressure.cpu.some 614
container.pressure.memory.some 615
container.pressure.io.some 616
END
expect process/job <<END
process.cpu.utilization 0.0
process.memory.usage $((704 * page))
process.thread.count 3
process.count 1
END
# MiB since the agent's start are those since the boot, as psutil has them.
/usr/bin/python3 - "$(value perf mem_percent)" "$(value perf disk_io_read_mb)" "$(value perf net_io_ext_recv_mb)" <<'END' >"$TMP/perf"
import sys
mem, read, recv = map(float, sys.argv[1:])
print(mem == 50.0, abs(read - 203 * 512 / 2**20) < 1e-9, abs(recv - (301 + 401 + 501) / 2**20) < 1e-9)
END
check_text "perf has memory, disks and network" "True True True" "$(cat "$TMP/perf")"
check_text "all groups of the table were judged, but those of this machine" \
	"cgroup/docker/a cpu cpu/0 cpu/1 disk/sda load memory network/br0 network/eth0 network/tun9 perf pressure process/job schedstat self vmstat" \
	"$(/usr/bin/python3 -c '
import csv, sys
print(*sorted({r["group" if "group" in r else "name"] for r in csv.DictReader(open(sys.argv[1]))}))' "$TMP/long")"

# ---- an older kernel, a sandbox
printf 'cpu  101 102 103 104\ncpu0 101 102 103 104\n' >"$HOST/stat"
printf 'MemTotal: 1000 kB\nMemFree: 400 kB\nBuffers: 20 kB\nCached: 100 kB\nShmem: 10 kB\nSReclaimable: 30 kB\n' >"$HOST/meminfo"
printf 'pgfault 1000\npgscan_kswapd 34\n' >"$HOST/vmstat"
echo 'some avg10=0.00 avg60=0.00 avg300=0.00 total=51' >"$HOST/pressure/memory"
rm "$HOST/pressure/io" "$CGROUPS/docker/a/memory.peak" "$CGROUPS/docker/a/memory.events" \
	"$CGROUPS/docker/a/io.stat" "$CGROUPS/docker/a/io.pressure" "$CGROUPS/docker/a/pids.current"
printf 'usage_usec 601\nuser_usec 602\nsystem_usec 603\n' >"$CGROUPS/docker/a/cpu.stat"
echo '   8       0 sda 201 202 203 204' >"$HOST/diskstats"
sampled 'a$old'
expect cpu <<END
system.cpu.time.idle 104
system.cpu.time.iowait -
system.cpu.time.steal -
system.cpu.context_switches -
END
expect cpu/0 <<END
system.cpu.time.idle 104
system.cpu.time.steal -
END
expect load <<END
system.process.count.running -
system.process.created -
system.thread.count 209
END
# 1000 - 400 - 20 - (100 + 30 - 10) = 460
expect memory <<END
system.memory.usage.used $((460 * kib))
system.linux.memory.available -
system.linux.memory.slab.unreclaimable -
system.linux.memory.dirty -
system.paging.usage.used -
system.paging.usage.free -
END
expect vmstat <<END
system.paging.faults.minor -
system.paging.faults.major -
system.linux.memory.scanned -
system.linux.memory.reclaimed -
system.linux.memory.oom_kills -
END
expect pressure <<END
system.linux.pressure.cpu.some 51
system.linux.pressure.memory.some 51
system.linux.pressure.memory.full -
system.linux.pressure.io.some -
END
# A short line has reads, sectors read, writes, sectors written.
expect disk/sda <<END
system.disk.operations.read 201
system.disk.io.read $((202 * 512))
system.disk.operations.write 203
system.disk.io.write $((204 * 512))
system.disk.merged.read -
system.disk.io_time -
system.disk.pending_operations -
END
expect cgroup/docker/a <<END
container.cpu.time 601
container.cpu.time.throttled -
container.memory.usage 606
container.memory.peak -
container.memory.oom_kills -
container.disk.io.read -
container.process.count -
container.pressure.memory.some 615
container.pressure.io.some -
END
# What reads them says "unknown", not 0.
check "the usage of the node is read" poolscope-stats -q usage -p 'a$old' --format json
check_text "its use of disks is there, its waiting for I/O is not" "True None" "$(
	/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
print(row["disk_read_bytes"] is not None, row["io_pressure_seconds"])' "$TMP/out" 2>&1)"
