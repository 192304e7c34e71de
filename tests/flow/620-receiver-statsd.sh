#!/bin/sh
# statsd: what programs send to the receiver by a Unix socket and by UDP is in the store,
# as sums that are worked out by hand; a bad line costs itself alone; of a flood all is there
# or counted.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

PORT=18125
socket=$DIR/run/statsd.sock
# send [udp]: each line of standard input is a datagram; %% in it is a newline.
send() {
	/usr/bin/python3 -c '
import socket, sys
udp = len(sys.argv) > 3
s = socket.socket(socket.AF_INET if udp else socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[2])) if udp else sys.argv[1])
for line in sys.stdin.buffer:
    s.send(line.rstrip(b"\n").replace(b"%%", b"\n"))' "$socket" "$PORT" "$@"
}
receive() {
	start receiver poolscope-receiver --period 1s "$@" || exit 1
}
# last METRIC [LABELS]: its last value in the store; largest METRIC: of all times.
values() {
	poolscope-dump -q --kind sample --format long >"$TMP/long" &&
		/usr/bin/python3 -c '
import csv, sys
values = [row["value"] for row in csv.DictReader(open(sys.argv[1]))
          if row["metric"] == sys.argv[3] and row["labels"] == sys.argv[4]]
numbers = [float(v) for v in values if v]
print("none" if not values else max(numbers) if sys.argv[2] == "largest" else float(values[-1]) if values[-1] else "nil")' "$TMP/long" "$1" "$2" "${3:-}"
}
last() {
	values last "$@"
}
largest() {
	values largest "$@"
}
# ours NAME: a counter of the receiver's own.
ours() {
	last "poolscope.receiver.$1" '{"source":"statsd"}'
}

wrong_usage "an address of others" '--statsd-udp: .0.0.0.0:8125. is not' poolscope-receiver --statsd-udp 0.0.0.0:8125
wrong_usage "no port" '--statsd-udp: .127.0.0.1. is not' poolscope-receiver --statsd-udp 127.0.0.1

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
receive --statsd-udp 127.0.0.1:$PORT
check_text "the socket is its user's" 600 "$(stat -c %a "$socket")"

# done: 1 + 2 / 0.1 + (1 + 2 + 3) = 27, and 5 by UDP; queue: 10 + 4 - 1; load: 1 to 100.
send <<-'END'
	done:1|c%%done:2|c|@0.1%%nonsense%%done:1:2:3|c
	queue:10|g%%queue:+4|g%%queue:-1|g
	users:x y|s%%users:z|s%%users:z|s%%
	loss:0.5|g|#phase:train,x,rank:3
	again:7|g|#rank:3|T1700000000
	_e{12,9}:Deploy Ready|all\nwell|t:info|#env:prod,message:no
	_sc|database|2|d:1700000001|h:n7|m:it is away
	:1|c%%a b:1|c%%done:1|g%%done:-1|c%%q:nan|g%%q:1|x%%q:1|c|@2%%t:1|c|#k:
END
# That last line is right: a tag without a text is none.  A datagram that is too long, a tag that is:
/usr/bin/python3 -c 'print("a:1|c%%" * 20000); print("q:1|c|#k:" + 200 * "x")' | send
seq 100 | sed 's/.*/load:&|ms/' | send
echo 'done:5|c' | send udp
check "the numbers are stored" wait_until '[ "$(last done) $(last load.count)" = "32.0 100.0" ]' 20
check_text "... a gauge with its deltas" 13.0 "$(last queue)"
check_text "... the times" 5050.0 "$(last load.sum)"
check_text "... a gauge with tags" 0.5 "$(last loss '{"phase":"train","rank":"3","x":"true"}')"
check_text "... a gauge of a time" 7.0 "$(last again '{"rank":"3"}')"
# These are of their period only.
check_text "... different users, the greatest time, and 99 %" "2.0 100.0 99.0" \
	"$(largest users) $(largest load.max) $(largest load.p99)"
wait_until indexed 30 || exit 1
answer "the events" '1700000001 database {"message": "it is away", "host.name": "n7", "status": "critical"}
now deploy ready {"message": "all\nwell", "alert_type": "info", "env": "prod"}' sh -c '
	poolscope-dump -q --kind event --name "statsd:*" | /usr/bin/python3 -c "
import json, sys
for e in sorted(map(json.loads, sys.stdin), key=lambda e: e[\"time_ns\"]):
    t = e[\"time_ns\"] // 10**9
    print(\"now\" if t > 1750000000 else t, e[\"name\"], json.dumps(e[\"attributes\"]))"'
check "each bad line is counted by its reason" wait_until '[ "$(for reason in form name other-type negative value type rate tags datagram; do ours bad.$reason; done | tr "\n" " ")" = "2.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 " ]' 20
check "... and logged with its first bytes" grep -q "statsd: .* reason form: 'nonsense': it is not NAME:VALUE|TYPE" "$TMP/receiver.log"
# 3 + 3 + 3 + 4 + 1, 100, 1
check_text "... the others are counted, too" 115.0 "$(ours taken)"

# A flood by UDP while the receiver sleeps: the kernel drops what it has no room for.
kill -STOP "$(pid receiver)"
/usr/bin/python3 -c 'print("\n".join(["flood:1|c"] * 60000))' | send udp
dropped=$(awk '$2 ~ /:46CD$/ { print $NF }' /proc/net/udp)
kill -CONT "$(pid receiver)"
check "a flood by UDP is there or counted" wait_until '[ "$(/usr/bin/python3 -c "print($(last flood) + $(ours lost))")" = 60000.0 ]' 30
check_text "... by the kernel's own count" "$dropped.0" "$(ours lost)"
check "... which is not nothing" test "$dropped" -gt 1000
check "... and is logged" grep -q "statsd: $dropped datagrams were lost for want of room at the UDP socket" "$TMP/receiver.log"

# The Unix socket makes the sender wait.
kill -STOP "$(pid receiver)"
/usr/bin/python3 -c 'print("\n".join(["calm:1|c%%calm:1|c"] * 20000))' | send &
sender=$!
timeout 0.5 tail -f /dev/null
check "the sender waits" kill -0 "$sender"
kill -CONT "$(pid receiver)"
wait "$sender"
check "a flood by the Unix socket is there" wait_until '[ "$(last calm)" = 40000.0 ]' 30
check_text "... nothing of it is lost" "$dropped.0" "$(ours lost)"

# Who removes the socket has another one soon; what was sent before the end is there.
rm "$socket"
check "a socket that was removed is made again" wait_until 'test -S "$socket"' 20
check "... and heard" wait_until 'echo "after:1|c" | send && [ "$(last after)" != none ]' 20
seq 500 | sed 's/.*/end:1|c/' | send
stop receiver
check_text "the receiver ends with 0" 0 "$STATUS"
check_text "... with all that was sent" 500.0 "$(last end)"
check "... without its socket" test ! -e "$socket"

# Without an agent numbers wait, and counters go on.
receive
stop agent
echo 'late:1|c%%took:3|ms' | send
check "without an agent the log says so" wait_until "grep -q 'statsd: the numbers of this period wait for the next: ' \"$TMP/receiver.log\"" 20
echo 'late:2|c%%took:5|ms' | send
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
check "... then all is there" wait_until '[ "$(last late) $(largest took.min) $(largest took.max)" = "3.0 3.0 5.0" ]' 20
stop receiver

# 10,000 series at most: as many as an agent takes in an hour.
stop agent
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
receive
/usr/bin/python3 -c '
for i in range(10100): print("many:1|c|#i:%d" % i)' | send
check "a series too many is refused" wait_until '[ "$(ours refused)" = 100.0 ]' 30
check "... by its name" wait_until 'poolscope-dump -q --kind event --name "receiver:refused" | grep -q "\"metric\": \"many\""' 20
stop receiver
