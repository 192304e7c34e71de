#!/bin/sh
# A node is not late because its record is not in the answer.
#
# The disk of the tables hangs: what is received is acknowledged and not indexed, so that each
# answer is incomplete.  n1's record of -40 s is indexed, that of now is not: 21 s later its newest
# indexed record is 61 s old, and the node is live, for all that anybody can know.  n2's newest
# record is 5 min old all the while: late.  When the disk is well again n1 is live by its record
# (whose clock is ahead, so that it stays so).
#
# Then a slow network: the answers of a reading take seconds.  Without it the next one comes soon,
# and not after some multiple of those seconds.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
command -v tmux >/dev/null || {
	echo "tmux is missing: need_packages test"
	exit 1
}

# fdatasync() of a file of the tables waits as long as $HOLD exists.
cat >"$TMP/hold.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int
fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	char link[64], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/tables/") != NULL)
		while (access(getenv("HOLD"), F_OK) == 0)
			usleep(10000);
	return real(fd);
}
END
check "a disk that hangs is made" cc -D_GNU_SOURCE -shared -fPIC -o "$TMP/hold.so" "$TMP/hold.c" -ldl
HOLD=$TMP/hold
export HOLD
# The address sanitizer wants to be loaded first, but can be talked to.
LD_PRELOAD=$TMP/hold.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
	start aggregator poolscope-aggregator || exit 1

terminal() {
	tmux -S "$TMP/tmux" -f /dev/null "$@"
}
shown() {
	terminal capture-pane -p -t "$1" >"$TMP/screen"
	grep -Eq -e "$2" "$TMP/screen"
}
# shows NAME WINDOW PATTERN [SECONDS]
shows() {
	_window=$2
	_pattern=$3
	if wait_until 'shown "$_window" "$_pattern"' "${4:-15}"; then
		pass "$1"
	else
		fail "$1: $3" "$TMP/screen"
	fi
}

records <<-'END'
	event -300 n2 work:other
	event -40 n1 work:other
END
terminal new-session -d -s screen -x 100 -y 24 "poolscope-top -p 'acct\$pool' 2>$TMP/top.log"
shows "top shows both" screen '2 nodes 1 live 1 late'
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until "grep -qo 'http://[^ ]*#k=[^ ]*' '$TMP/web.log'" || exit 1
address=$(grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/web.log" | head -n 1)
ask() {
	curl -sS -H "Authorization: Bearer ${address#*#k=}" "${address%%/#*}/v1/$1"
}

: >"$HOLD"
send_records <<-'END' || exit 1
	event 1000 n1 work:other
END
check "the node's record of -40 s is more than a minute old" \
	wait_until '[ "$(date +%s)" -ge "$((BASE + 21))" ]' 30
check "its record of now is not indexed" sh -c '! "$ROOT/tests/flow/counters.py" |
	python3 -c "import json, sys; sys.exit(json.load(sys.stdin)[\"store\"][\"indexing_lag\"] != 0)"'
check "nodes" poolscope nodes --format csv
check_printed "... says that the answer is incomplete" "the answer is incomplete"
cp "$TMP/out" "$TMP/nodes.csv"
check_text "... a node that nothing is known of is not late" "n2,late n1,live" \
	"$(columns node,state cat "$TMP/nodes.csv" | xargs)"
check_text "... nor in pools" "1,1,0,0" "$(columns live,late,silent,gone poolscope stats pools --format csv)"
check "metrics are read" poolscope stats metrics --prometheus
check_text "... nor in metrics" "1 1" "$(sed -n 's/^poolscope_pool_nodes{.*state="\(live\|late\)"} //p' "$TMP/out" | xargs)"
check_text "... nor on the page" "n2 late n1 live" "$(ask 'pools/acct%24pool/nodes' |
	python3 -c 'import json, sys
print(*[word for node in json.load(sys.stdin)["rows"] for word in (node["node"], node["state"])])')"
shows "... nor in top" screen '2 nodes 1 live 1 late'
shows "... which says as of when" screen '1 live 1 late at [0-9:]{8}'
rm "$HOLD"
check "the disk is well again" wait_until indexed 30
shows "top is as of now" screen '2 nodes 1 live 1 late  '
check "nodes hears the record of now" wait_until 'poolscope nodes -n n1 --format csv | grep -q ",live,.*$(date -u -d "@$((BASE + 1000))" +%H:%M:%S)"'
stop web

# ---- a slow network
cat >"$TMP/slow.py" <<'END'
import os, socket, sys, threading, time
here, there, slow = sys.argv[1:]
def copy(a, b):
    while data := a.recv(65536):
        if os.path.exists(slow):
            time.sleep(0.3)
        b.sendall(data)
    b.close()
listener = socket.socket(socket.AF_UNIX)
listener.bind(here)
listener.listen()
open(here + ".ready", "w")
while True:
    a = listener.accept()[0]
    b = socket.socket(socket.AF_UNIX)
    b.connect(there)
    for pair in (a, b), (b, a):
        threading.Thread(target=copy, args=pair, daemon=True).start()
END
serve slow /usr/bin/python3 "$TMP/slow.py" "$DIR/run/slow.ipc" "$DIR/run/reader.ipc" "$TMP/slow"
wait_until 'test -e "$DIR/run/slow.ipc.ready"' || exit 1
terminal new-session -d -s slow -x 100 -y 24 \
	"poolscope-top -p 'acct\$pool' --connect ipc://$DIR/run/slow.ipc 2>$TMP/slow.log"
shows "top over the network" slow "  2 nodes" 30
: >"$TMP/slow"
records <<-'END'
	event 1000 n3 work:other
END
shows "it reads, slowly" slow '  3 nodes' 120
rm "$TMP/slow"
records <<-'END'
	event 1000 n4 work:other
END
shows "a fast network again: the next record is read soon" slow '  4 nodes' 30
terminal kill-server
stop aggregator
