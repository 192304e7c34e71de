#!/bin/sh
# Every program that makes sockets, with a limit of 3 to 64 open files: it works, or fails
# with a sentence, and is never ended by a signal.  More connections to Unix sockets than
# their programs may have files: others go on.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/flow/lib.sh
. "$ROOT/tests/flow/lib.sh"

check "an aggregator" start aggregator poolscope-aggregator
check "a broker" start broker poolscope-broker
check "an agent" start agent poolscope-agent -p 'acct$pool' -n node1 --no-samples --no-clock
check "an event" poolscope-emit test hello --wait stored
echo "event 1 node1 work:step number=1" >"$TMP/events"
mkdir -p "$TMP/other/run"

# few FILES PROGRAM...: its status is in $GOT, what it says in $TMP/few.  Daemons end
# after a second.  The sanitizer's search for leaks waits for ever if that second ends in it.
few() {
	_files=$1
	shift
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" prlimit --nofile="$_files:$_files" timeout --preserve-status -s TERM 1 "$@" >"$TMP/few" 2>&1 </dev/null
	GOT=$?
}

# tried NAME PROGRAM...
tried() {
	_tried=$1
	shift
	_wrong=
	_helped=
	for n in 3 4 5 6 7 8 10 12 16 20 24 28 32 40 48 64; do
		few "$n" "$@"
		# 143: the end by timeout(1), for programs that wait.
		case $GOT in
		0) ;;
		143) ;;
		1 | 2 | 3 | 75 | 127) [ -s "$TMP/few" ] || _wrong="$_wrong $n:silent" ;;
		*) _wrong="$_wrong $n:$GOT,$(tail -n 1 "$TMP/few")" ;;
		esac
		! grep -q 'ulimit -n' "$TMP/few" || _helped=yes
	done
	check_text "$_tried is ended by no limit of files" "" "$_wrong"
	# web asks when somebody looks at it.
	[ "$_tried" = web ] || check_text "... and says what to do about it" yes "$_helped"
}
tried stats poolscope-stats status --connect "ipc://$DIR/run/reader.ipc"
tried dump poolscope-dump -p 'acct$pool' --connect "ipc://$DIR/run/reader.ipc"
tried top poolscope-top --once --connect "ipc://$DIR/run/reader.ipc"
tried results poolscope-results tests -p 'acct$pool' --connect "ipc://$DIR/run/reader.ipc"
tried trace poolscope-trace -p 'acct$pool' -o "$TMP/trace.json" --connect "ipc://$DIR/run/reader.ipc"
tried plot poolscope-plot samples --metric '*' -p 'acct$pool' -o "$TMP/p.svg" --connect "ipc://$DIR/run/reader.ipc"
tried report poolscope-report -p 'acct$pool' -o "$TMP/report" --connect "ipc://$DIR/run/reader.ipc"
tried upload poolscope-upload samples -p 'acct$pool' --target influx:http://127.0.0.1:1/ --connect "ipc://$DIR/run/reader.ipc"
tried web poolscope-web --listen 127.0.0.1:26410 --connect "ipc://$DIR/run/reader.ipc"
tried import poolscope-import -p 'acct$pool' emits "$TMP/events"
tried generate poolscope-generate testrun --runs 1 -p 'acct$pool'
tried aggregator poolscope-aggregator --dir "$TMP/other"
tried broker poolscope-broker --dir "$TMP/other"
tried agent poolscope-agent -p 'acct$pool' -n node1 --dir "$TMP/other"

# ---- connections to Unix sockets
for each in agent broker aggregator; do
	stop $each
done
few_files() {
	printf '#!/bin/sh\nexec prlimit --nofile=%s:%s %s "$@"\n' "$2" "$2" "$B/bin/$1" >"$TMP/$1"
	chmod +x "$TMP/$1"
}
few_files poolscope-aggregator 120
few_files poolscope-broker 90
check "an aggregator that may have 120 files" start aggregator "$TMP/poolscope-aggregator"
check "a broker that may have 90" start broker "$TMP/poolscope-broker"
check "an agent, as before" start agent poolscope-agent -p 'acct$pool' -n node1 --no-samples --no-clock
check "an event goes through" poolscope-emit test before --wait stored
python3 -c '
import socket, sys, time
held = []
for path in sys.argv[1:]:
    for _ in range(300):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(0.2)
        try:
            s.connect(path)
        except OSError:
            pass
        held.append(s)
print("held", flush=True)
time.sleep(1000)' "$DIR/run/reader.ipc" "$DIR/run/intake.ipc" "$DIR/run/broker.ipc" >"$TMP/held" &
holder=$!
check "900 connections" wait_until 'grep -q held "$TMP/held"' 60
check "an event goes through meanwhile" timeout 120 poolscope-emit test during --wait stored
check "somebody who comes later is answered" timeout 120 poolscope-dump -p 'acct$pool' --connect "ipc://$DIR/run/reader.ipc" --quiet
kill "$holder"
wait "$holder" 2>/dev/null
for each in agent broker aggregator; do
	stop $each
	check_text "the $each ends as it should" 0 "$STATUS"
done
