# flood - how long connected agents wait for acknowledgements while
# strangers shake hands without end: with any number of connections a second
# and with as many as by default, in turn.  The goal: p99 below twice that of
# a quiet listener.  Strangers, honest and daemons share the processors.
#
#	RUNS=3 FLOOD=8 sh tests/bench/flood.sh
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
export TMP
mkdir -p "$TMP/i/run"
poolscope-keys new server --role server >/dev/null
poolscope-keys new nodes -o "$TMP/nodes.key" >/dev/null
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$TMP"' EXIT

# begin NAME PROGRAM [OPTION...]: its pid is in $last.
begin() {
	name=$1
	shift
	rm -f "$TMP/$name.ready"
	mkfifo "$TMP/$name.ready"
	"$@" --ready-fd 3 3>"$TMP/$name.ready" 2>/dev/null &
	last=$!
	pids="$pids $last"
	head -1 "$TMP/$name.ready" >/dev/null
}

begin aggregator poolscope-aggregator
for run in $(seq "$RUNS"); do
	for limit in 0 100; do
		begin broker poolscope-broker --connect-rate $limit \
			--listen tcp://127.0.0.1:25724
		printf '%s, at most %3s a second: ' "$run" "$limit"
		/usr/bin/python3 tests/attack/keyed.py flood \
			tcp://127.0.0.1:25724 "$TMP/nodes.key" "$last" "${FLOOD:-8}"
		kill "$last"
		wait "$last" || :
	done
done
