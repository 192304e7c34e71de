#!/bin/sh
# An agent in a container: the host's /proc lies elsewhere, and "net" and "self"
# in it lead to what the reader has.  The network is the host's, the file systems
# have the host's names; what the agent cannot see is logged.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ] || ! unshare -n -m true 2>/dev/null; then
	echo "skipped: no namespaces"
	exit 0
fi
# "Host": a network namespace with an interface that carries something, a disk,
# and process 1 of a PID namespace.
cat >"$TMP/host.sh" <<'END'
mount -t proc proc /proc || exit 1
cd "$TMP" || exit 1
ip link set lo up
ip link add host0 type veth peer name host1 && ip link set host0 up && ip link set host1 up || exit 1
/usr/bin/python3 -c 'import socket; s = socket.socket(17, 3); s.bind(("host0", 0)); s.send(b"\2\0\0\0\0\2" * 20)' || exit 1
dd if=/dev/zero of=disk.img bs=1M count=16 2>/dev/null
mkfs.ext4 -q disk.img && mkdir -p "$TMP/data" "$TMP/hidden" "$TMP/volume" && mount -o loop disk.img "$TMP/data" || exit 1
dd if=/dev/zero of=hidden.img bs=1M count=16 2>/dev/null
mkfs.ext4 -q hidden.img && mount -o loop hidden.img "$TMP/hidden" || exit 1
mkdir "$TMP/data/volume"
# The container: its own network and mounts; of the host a volume and /proc.
unshare -n -m -p -f --kill-child sh "$TMP/container.sh"
END
cat >"$TMP/container.sh" <<'END'
mkdir -p "$TMP/host"
mount --bind "$TMP/data/volume" "$TMP/volume"
mount --rbind /proc "$TMP/host"
umount "$TMP/data"; umount "$TMP/hidden"
mount -t proc proc /proc
ip link set lo up
ip link add own0 type veth peer name own1 && ip link set own0 up && ip link set own1 up
/usr/bin/python3 -c 'import socket; s = socket.socket(17, 3); s.bind(("own0", 0)); s.send(b"\2\0\0\0\0\2" * 20)'
exec poolscope-agent --ready-fd 3 -p 'a$s' -n n1 --no-clock --proc "$TMP/host" --period 200ms \
	--send-interval 100ms --metric-groups network,filesystem=200ms,cpu
END
export TMP
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
mkfifo "$TMP/c.ready"
unshare -n -m -p -f --kill-child sh "$TMP/host.sh" 3>"$TMP/c.ready" >"$TMP/c.log" 2>&1 </dev/null &
container=$!
if [ "$(head -n 1 "$TMP/c.ready" | wc -l)" -ne 1 ]; then
	echo "skipped: $(tail -1 "$TMP/c.log")"
	exit 0
fi
groups() {
	poolscope-dump -q -p 'a$s' --kind sample --name "$1" --format wide | cut -d, -f4 | sed 1d | sort -u
}
check "processors are sampled" wait_until 'groups cpu | grep -q cpu' 30
check "the disk of the volume is, by the host's name" wait_until "groups 'filesystem/*' | grep -qx 'filesystem$TMP/data'" 30
check_text "and the interfaces of the host, not those of the container" "network/host0 network/host1" "$(groups "network/*" | tr "\n" " " | sed "s, $,,")"
check_text "whether it is physical is unknown" "['']" "$(
	poolscope-dump -q -p 'a$s' --kind sample --name network/host0 --format long | /usr/bin/python3 -c '
import csv, sys
print(sorted({r["value"] for r in csv.DictReader(sys.stdin) if r["metric"] == "system.network.physical"}))')"
check_text "the disk that is not mounted for the agent is not sampled" "" "$(groups 'filesystem/*' | grep hidden)"
check_text "and the log says why, once" 1 "$(grep -c 'hidden is not sampled: it is not mounted where the agent runs' "$TMP/c.log")"
# unshare ignores TERM while it waits; what it started goes with it.
kill -9 "$container"
wait "$container" 2>/dev/null || true
