# statsd_sockets - what a line of statsd costs the receiver, from the socket on
# (goal: 300,000 lines a second of one core), with statsd_exporter if it is
# there (go install github.com/prometheus/statsd_exporter@v0.31.0 into
# build/parts/statsd): CPU of the process, through its Unix socket.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
exporter=$B/parts/statsd/statsd_exporter
pids=
trap 'kill $pids 2>/dev/null || :; wait; rm -rf "$TMP"' EXIT
mkdir -p "$TMP/i/run"
# begin NAME PROGRAM [OPTION...]: its pid is in $last.
begin() {
	name=$1
	shift
	mkfifo "$TMP/$name.ready"
	"$@" --ready-fd 3 3>"$TMP/$name.ready" 2>/dev/null &
	last=$!
	pids="$pids $last"
	head -1 "$TMP/$name.ready" >/dev/null
}
begin agent poolscope-agent --no-samples -n n1 -p bench
begin receiver poolscope-receiver

# cost NAME PID SOCKET: of datagrams of one line, and of twenty.
cost() {
	for lines in 1 20; do
		/usr/bin/python3 - "$1" "$2" "$3" "$lines" <<'END'
import os, socket, sys, time
name, pid, path, lines = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def cpu():
    fields = open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(path)
form = ["app.requests%d:1|c", "app.latency%d:12.5|ms", "app.queue%d:3|g", "app.errors%d:1|c|#code:500"]
every = [form[i % 4] % (i % 50) for i in range(200)]
datagrams = [("\n".join(every[(i + k) % 200] for k in range(lines))).encode() for i in range(200)]
count = 600000 // lines
before, began = cpu(), time.monotonic()
for i in range(count):
    s.send(datagrams[i % 200])
seconds = time.monotonic() - began
time.sleep(1)
used = cpu() - before
print("statsd: %s, datagrams of %2d lines: %.2f us of CPU a line, %9.0f lines/s of a core (sent %.0f/s)%s" % (
    name, lines, used / (count * lines) * 1e6, count * lines / used, count * lines / seconds,
    " MISSED" if name == "receiver" and count * lines / used < 300000 else ""))
END
	done
}
cost receiver "$last" "$TMP/i/run/statsd.sock"
[ -x "$exporter" ] || exit 0
"$exporter" --statsd.listen-udp= --statsd.listen-tcp= --statsd.listen-unixgram="$TMP/peer.sock" \
	--web.listen-address=127.0.0.1:19112 >"$TMP/peer.log" 2>&1 &
last=$!
pids="$pids $last"
while ! [ -S "$TMP/peer.sock" ]; do
	sleep 0.1
done
cost statsd_exporter "$last" "$TMP/peer.sock"
