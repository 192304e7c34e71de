#!/bin/sh
# Hosts with more devices than are sampled, with disks that are listed twice,
# with names that are no UTF-8: what matters most is sampled, the rest is
# counted and logged.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HOST=$TMP/proc SYS=$TMP/sys
mkdir -p "$HOST/net" "$HOST/self" "$SYS/class/net/eth0/device" "$SYS/block"
: >"$HOST/self/mountinfo"
/usr/bin/python3 - "$HOST" "$SYS" <<'END'
import os, sys
host, sys_ = sys.argv[1:]
with open(host + "/net/dev", "wb") as f:
    f.write(b"a\nb\n")
    for i in range(1, 301):
        os.makedirs("%s/class/net/tap%d" % (sys_, i))
        f.write(b"  tap%d: %d 100 0 0 0 0 0 0 %d 100 0 0 0 0 0 0\n" % (i, 1000000 * i, 2000000 * i))
    # Physical, but the idlest of all; and a name that is no UTF-8.
    f.write(b"  eth0: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n")
    f.write(b"  odd\xff: 900000000000 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n")
with open(host + "/diskstats", "w") as f:
    for i in range(1, 300):
        os.makedirs("%s/block/sd%d/device" % (sys_, i))
        f.write("8 %d sd%d 1 0 %d 0 1 0 8 0 0 0 0\n" % (i, i, 8 * i))
    # A recent kernel counts in the disk and in its paths ...
    for name, reads, sectors in (("nvme0n1", 10, 2097152), ("nvme0c0n1", 6, 1048576), ("nvme0c1n1", 4, 1048576),
                                 # ... an older one in the paths only.
                                 ("nvme1n1", 0, 0), ("nvme1c0n1", 3, 2000000), ("nvme1c1n1", 3, 1000000)):
        os.makedirs("%s/block/%s/device" % (sys_, name))
        f.write("259 0 %s %d 0 %d 0 0 0 0 0 0 0 0\n" % (name, reads, sectors))
END

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent -p 'a$s' -n n1 --no-clock --proc "$HOST" --sys "$SYS" --period 200ms \
	--send-interval 100ms --metric-groups network,disk,perf,self=200ms
groups() {
	poolscope-dump -q -p 'a$s' --kind sample --name "$1" --format wide | cut -d, -f4 | sed 1d | sort -u
}
check "they are sampled" wait_until "groups 'disk/*' | grep -q . && groups self | grep -q self && groups perf | grep -q perf" 30
stop agent
groups 'network/*' >"$TMP/interfaces"
groups 'disk/*' >"$TMP/disks"
check_text "128 of 302 interfaces" 128 "$(wc -l <"$TMP/interfaces")"
check_text "the physical one, the busiest with its bytes escaped, and the busiest taps" \
	'network/eth0 network/odd\377 network/tap300' \
	"$(grep -E 'eth0|odd|tap300' "$TMP/interfaces" | tr '\n' ' ' | sed 's/ $//')"
check_text "not the idlest tap" "" "$(grep -x network/tap174 "$TMP/interfaces")"
check_text "the log reports once what is left out" 1 "$(grep -c '174 interfaces are not sampled: at most 128' "$TMP/agent.log")"
check_text "256 of 303 disks" 256 "$(wc -l <"$TMP/disks")"
# 299 and nvme0n1, nvme1n1 and its paths, are 303.
check_text "the log reports the disks, too" 1 "$(grep -c '47 disks are not sampled: at most 256' "$TMP/agent.log")"
check_text "the disk, or what its paths count" "disk/nvme0n1 disk/nvme1c0n1 disk/nvme1c1n1" \
	"$(grep nvme "$TMP/disks" | tr '\n' ' ' | sed 's/ $//')"
value() { # GROUP METRIC
	poolscope-dump -q -p 'a$s' --kind sample --name "$1" --format long | /usr/bin/python3 -c '
import csv, sys
print([r["value"] for r in csv.DictReader(sys.stdin) if r["metric"] == sys.argv[1]][-1])' "$2"
}
check_text "and the agent counts what it leaves out" $((174 + 47)) "$(value self poolscope.agent.left_out)"
# In perf as well: 8 * (1 + ... + 299) + 2097152 + 3000000 sectors.
check_text "a disk that is listed twice counts once in perf" True "$(/usr/bin/python3 -c '
import sys
print(abs(float(sys.argv[1]) - (8 * 299 * 150 + 2097152 + 3000000) * 512 / 2**20) < 1e-6)' "$(value perf disk_io_read_mb)")"
