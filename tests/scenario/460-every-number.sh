#!/bin/sh
# Each number of a small pool, worked out by hand, in every way that shows it: the table is
# numbers.py.  A new way or a new number is a line there.
#
# Two nodes are sampled each 10 s for 240 s, until now.  Each has two processors; of 20 s of
# them n1 works 5 (a share of 0.25), n2 15 (0.75), 1 s waits for I/O.  Each uses 3 GiB.  Each
# gets 1,000 bytes a second by eth0 and 500 by eth1, 1,500 in all: the 5,000 of docker0, which
# is no device, are carried by those.
#
# The step of n1 takes 10 s; then 5 s, as its end says, and not 20; then 8 s, and what its
# start says is no measurement.  That of n2 takes 30 s, and it begins one more.  So there are
# four, of 5 to 30 s, 53 s in all, 13.25 s on average, and one is open.  The start begins at
# 10; n1 is ready at 20 and n2 at 42, 32 s later.
#
# There are three runs; r1 flashes for 12.5 s.  With theirs there are 9 + 5 = 14 events.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(($(date +%s) - 240))
. "$(dirname "$0")/lib.sh"
model work <<'END'
phase "step" {
	start = "work:start"
	end = "work:end"
	measured = "diff"
	required = true
}
END
cp "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate --models "$TMP/models"
/usr/bin/python3 - <<'END' | records
for node, used in ("n1", 5), ("n2", 15):
    print("group", node, "cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter"
          " system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge")
    print("group", node, "memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge")
    for interface in "eth0", "eth1", "docker0":
        print("group", node, "network/" + interface, "poolscope.boot:1:gauge system.network.io.receive:By:counter"
              " system.network.io.transmit:By:counter system.network.physical:1:gauge")
    for t in range(0, 241, 10):
        print("sample", t, node, "cpu 7", used * 10 * t, (19 - used) * 10 * t, 10 * t, 2)
        print("sample", t, node, "memory", 4 << 30, 3 << 30)
        print("sample", t, node, "network/eth0 7", 1000 * t, 10 * t, 1)
        print("sample", t, node, "network/eth1 7", 500 * t, 10 * t, 1)
        print("sample", t, node, "network/docker0 7", 5000 * t, 10 * t, 0)
print("event 10 n1 work:start")
print("event 20 n1 work:end")
print("event 30 n1 work:start")
print("event 50 n1 work:end diff=5")
print("event 100 n1 work:start diff=7")
print("event 108 n1 work:end")
print("event 12 n2 work:start")
print("event 42 n2 work:end")
print("event 60 n2 work:start")
for run, begin, end in ("r1", 100, 112.5), ("r2", 130, 140), ("r3", 150, None):
    print("entity n1 run", run, "device_group=phones")
    print("event", begin, "n1 run:flash_start run=" + run)
    if end:
        print("event", end, "n1 run:flash_end run=" + run)
END

: >"$TMP/web.log"
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until 'grep -q "^http://" "$TMP/web.log"'
PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
TOKEN=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
export PORT TOKEN
check "a report" poolscope-report -q -p "$PARTITION" -o "$TMP/report.html"
check "every way shows the same number" /usr/bin/python3 "$ROOT/tests/scenario/numbers.py" "$TMP"
