# Targets of the receiver's scrapes that are no good ones: each costs itself alone, and
# one that is stays as it is.  What they are is written here, byte by byte.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"

cat >"$TMP/targets.py" <<'END'
"""targets FILE SOCKET: bad exporters, a port each; their names and ports go to FILE."""
import gzip, os, socket, socketserver, sys, threading, time

def answer(body, more=b"", status=b"200 OK", kind=b"text/plain; version=0.0.4"):
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, kind, more, len(body), body)

asked = {}
def good():
    # The second process of the exporter counts from 0.
    n = asked["good"]
    return answer(b'# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n# TYPE jobs_total counter\njobs_total{queue="a"} %d\n'
                  b'jobs_total{queue="b",job="own"} 5\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n'
                  % (1700000000 if n < 4 else 1700000500, 100 + n if n < 4 else n))
def zipped():
    return answer(gzip.compress(b"zipped_value 7\n"), b"Content-Encoding: gzip\r\n")
BOMB = answer(gzip.compress(b"bomb_value 1\n" * 3000000, 1), b"Content-Encoding: gzip\r\n")
HUGE = answer(b"huge_value 1\n" * 1500000)
def bomb():
    return BOMB
def huge():
    return HUGE
def html():
    return answer(b"<html><body>metrics <a href=/metrics>here</a>", kind=b"text/html")
def json():
    return answer(b'{"json_value": 1}\n')
def nothing():
    return b""
def empty():
    return answer(b"")
def junk():
    return answer(b"\0\xff" * 20000 + b"\n" + b"junk_value 1\n" + b"x" * 2000000 + b"\n" + b"{\n" * 400000)
def away():
    return answer(b"", b"Location: http://127.0.0.1:%d/\r\n" % ports["good"], b"302 Found")
def refuses():
    return answer(b"refused_value 1\n", status=b"503 Service Unavailable")
def cut():
    return answer(b"cut_value 1\n")[:-4]
def hangs():
    time.sleep(100)
def drips():
    return None
def many():
    # Once: it is a lot to look at in the store.
    return answer(b"") if asked["many"] > 1 else answer(b"".join(b"many_value{id=\"%d\"} 1\n" % i for i in range(20000)))

def serve(server, handler):
    def run():
        while True:
            fd, _ = server.accept()
            threading.Thread(target=one, args=(fd, handler), daemon=True).start()
    threading.Thread(target=run, daemon=True).start()

def one(fd, handler):
    try:
        while b"\r\n\r\n" not in fd.recv(65536):
            pass
        asked[handler.__name__] = asked.get(handler.__name__, 0) + 1
        if handler is drips:
            fd.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(1000):
                fd.sendall(b"#")
                time.sleep(0.05)
        else:
            fd.sendall(handler())
        # What was not read yet must not reset the connection.
        fd.shutdown(socket.SHUT_WR)
        fd.recv(1)
    except OSError:
        pass
    fd.close()

ports = {}
for handler in good, zipped, bomb, huge, html, json, nothing, empty, junk, away, refuses, cut, hangs, drips, many:
    server = socket.create_server(("127.0.0.1", 0), backlog=64)
    ports[handler.__name__] = server.getsockname()[1]
    serve(server, handler)
local = socket.socket(socket.AF_UNIX)
local.bind(sys.argv[2])
local.listen()
serve(local, zipped)
with open(sys.argv[1] + ".new", "w") as file:
    for name, port in ports.items():
        print(name, port, file=file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
threading.Event().wait()
END
python3 "$TMP/targets.py" "$TMP/targets" "$TMP/local.sock" >"$TMP/targets.log" 2>&1 &
targets=$!
wait_until '[ -s "$TMP/targets" ]' 20 || exit 1
{
	echo 'receiver {'
	while read -r name port; do
		printf '\tscrape "%s" { url = "http://127.0.0.1:%s/metrics"  period = 1s }\n' "$name" "$port"
	done <"$TMP/targets"
	printf '\tscrape "local" { url = "unix:%s:/x"  period = 1s }\n' "$TMP/local.sock"
	printf '\tscrape "closed" { url = "http://127.0.0.1:1/metrics"  period = 1s }\n}\n'
} >"$DIR/poolscope.conf"
chmod 600 "$DIR/poolscope.conf"
export POOLSCOPE_PARTITION='acct$pool' POOLSCOPE_PERIOD=300ms
# A proxy of the environment is none for exporters.
export http_proxy=http://127.0.0.1:1 HTTP_PROXY=http://127.0.0.1:1
check "an instance with a receiver" poolscope up --receiver || exit 1
log=$DIR/log/receiver.log

numbers() {
	poolscope-dump -p 'acct$pool' --format jsonl --kind sample --kind entity --log error 2>/dev/null |
		python3 "$ROOT/tests/flow/receiver_judge.py"
}
boots() {
	poolscope-dump -p 'acct$pool' --format jsonl --kind sample --kind entity --log error 2>/dev/null |
		python3 "$ROOT/tests/flow/receiver_judge.py" --boots "$1"
}
shows() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qxF -e "$each" "$TMP/numbers" || return 1; done
}
matches() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qx -e "$each" "$TMP/numbers" || return 1; done
}

check "a page of numbers is up, also one of none, and of lines that are wrong and one that is not" wait_until 'shows \
	"up{job=good} - gauge 1" "up{job=zipped} - gauge 1" "up{job=local} - gauge 1" "up{job=empty} - gauge 1" "up{job=junk} - gauge 1"' 60
check "its numbers have the job, unless they have one of their own" shows \
	'jobs_total{job=own,queue=b} - counter 5' 'h_sum{job=good} - counter 3' 'h_count{job=good} - counter 2' \
	'zipped_value{job=zipped} - gauge 7' 'zipped_value{job=local} - gauge 7' 'scrape.series{job=zipped} - gauge 1' \
	'junk_value{job=junk} - gauge 1' 'scrape.series{job=empty} - gauge 0'
check "no other target is" wait_until 'shows \
	"up{job=bomb} - gauge 0" "up{job=huge} - gauge 0" "up{job=html} - gauge 0" "up{job=json} - gauge 0" \
	"up{job=nothing} - gauge 0" "up{job=away} - gauge 0" "up{job=refuses} - gauge 0" "up{job=cut} - gauge 0" \
	"up{job=hangs} - gauge 0" "up{job=drips} - gauge 0" "up{job=closed} - gauge 0"' 60
check_text "... and nothing of them is stored, nor a bucket" "" \
	"$(grep -E '^(bomb|huge|json|refused|cut)_value|^h_bucket' "$TMP/numbers")"
# A loaded machine may be late once.
check "who hangs has half a period" wait_until 'matches \
	"scrape.seconds{job=hangs} s gauge 0[.][5-9].*" "scrape.seconds{job=drips} s gauge 0[.][5-9].*"' 60
check "each reason is counted" wait_until 'matches \
	"poolscope.receiver.bad.html{source=scrape html} - counter [1-9].*" \
	"poolscope.receiver.bad.status{source=scrape away} - counter [1-9].*" \
	"poolscope.receiver.bad.status{source=scrape refuses} - counter [1-9].*" \
	"poolscope.receiver.bad.unreachable{source=scrape bomb} - counter [1-9].*" \
	"poolscope.receiver.bad.unreachable{source=scrape huge} - counter [1-9].*" \
	"poolscope.receiver.bad.unreachable{source=scrape nothing} - counter [1-9].*" \
	"poolscope.receiver.bad.unreachable{source=scrape cut} - counter [1-9].*" \
	"poolscope.receiver.bad.unreachable{source=scrape hangs} - counter [1-9].*" \
	"poolscope.receiver.bad.syntax{source=scrape json} - counter [1-9].*" \
	"poolscope.receiver.bad.syntax{source=scrape junk} - counter [4-9]0.*"' 60
check "series beyond 10,000 are refused and counted" wait_until \
	'matches "poolscope.receiver.refused{source=scrape many} - counter [1-9].*"' 60
check "the log says of each what it was" sh -c 'for each; do grep -q -- "$each" "$0" || { echo "$each"; exit 1; }; done' "$log" \
	'scrape bomb: .*larger than 16 MiB' 'scrape away: .*a redirect to .*, which is not followed' \
	'scrape html: .*a page of HTML' 'scrape closed: .*reason unreachable'
check "a counter begins again with its exporter: two boots, of its own start" wait_until \
	'[ "$(boots jobs_total)" = 2 ]' 30
check "the good one goes on" wait_until 'numbers | grep -q "^jobs_total{job=good,queue=a} - counter [1-9][0-9]*$"' 30
began=$(date +%s)
check "down" poolscope down
check "... does not wait for who hangs" test $(($(date +%s) - began)) -le $((8 * SLOW))
kill "$targets"

wrong_usage "a target of another host is refused" "10.0.0.1:9100/metrics is not of this host" \
	poolscope-receiver --scrape 'a url=http://10.0.0.1:9100/metrics'
wrong_usage "... one without an address" "a: has no url" poolscope-receiver --scrape 'a period=1s'
