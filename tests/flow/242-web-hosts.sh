#!/bin/sh
# The page: more half requests than it has places for, requests with many parameters or
# two Hosts; and a program whose output cannot be written.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/flow/lib.sh
. "$ROOT/tests/flow/lib.sh"

check "an aggregator" start aggregator poolscope-aggregator
check "the page" start web poolscope-web --listen 127.0.0.1:26420
cat >"$TMP/ask.py" <<'END'
import socket
import sys

at = ("127.0.0.1", 26420)
HEAD = b"Host: 127.0.0.1:26420\r\n"


def ask(head, target=b"/"):
    s = socket.create_connection(at, timeout=20)
    s.sendall(b"GET " + target + b" HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")
    got = b""
    while True:
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            more = b""
        if not more:
            return got.split(b" ")[1].decode() if got else "nothing"
        got += more


def case_half():
    held = []
    for i in range(600):
        s = socket.create_connection(at, timeout=20)
        s.sendall(b"GET / HTTP/1.1\r\nHost:")
        held.append(s)
        if i % 100 == 99:
            print(ask(HEAD))
    # Another host keeps its own though those of this one are younger.
    mine = socket.socket()
    mine.bind(("127.0.0.2", 0))
    mine.connect(at)
    mine.sendall(b"GET / HTTP/1.1\r\n")
    for _ in range(300):
        s = socket.create_connection(at, timeout=20)
        s.sendall(b"GET")
        held.append(s)
    mine.sendall(HEAD + b"\r\n")
    mine.settimeout(20)
    print(mine.recv(100).split(b" ")[1].decode())


def case_parameters(count):
    print(ask(HEAD, b"/?" + b"&".join(b"a%d" % i for i in range(int(count)))))


def case_hosts():
    print(ask(HEAD * 2), ask(HEAD + b"host: other\r\n"), ask(b""), ask(HEAD))


globals()["case_" + sys.argv[1]](*sys.argv[2:])
END
check_text "900 half requests hold out nobody, and another host keeps its place" "200 200 200 200 200 200 200" \
	"$(timeout 200 python3 "$TMP/ask.py" half | xargs)"
for n in 300 1300; do
	check_text "$n parameters are answered" 400 "$(python3 "$TMP/ask.py" parameters $n)"
done
check_text "more than a head may have, too" 414 "$(python3 "$TMP/ask.py" parameters 5000)"
check_text "two Hosts are wrong, and none" "400 400 400 200" "$(python3 "$TMP/ask.py" hosts)"
stop web
check_text "the page ends as it should" 0 "$STATUS"

# ---- output that cannot be written
for each in "$B"/bin/poolscope*; do
	for word in --help --version; do
		"$each" $word >/dev/full 2>"$TMP/err"
		got=$?
		[ $got -eq 1 ] && [ -s "$TMP/err" ] || echo "$(basename "$each") $word: $got"
	done
done >"$TMP/wrong"
check_text "each program fails when its output cannot be written" "" "$(cat "$TMP/wrong")"
for word in "config show" "stats status" "help" "dump -p a\$b --format csv"; do
	# shellcheck disable=SC2086 # words
	check_status 1 "so does poolscope $word" sh -c "poolscope $word >/dev/full"
done
