#!/bin/sh
# Peers of every role, and none, that speak ZMTP wrongly, put PINGs behind messages and
# reset their connections at any byte (ZMTP connections, half of them without keys), at
# every listener; and a server that does, to every program that connects.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

intake=tcp://127.0.0.1:26400
reader=tcp://127.0.0.1:26401
listener=tcp://127.0.0.1:26402
count=${ZMTP:-6000}
zmtp() {
	PYTHONPATH=$ROOT/tests/attack:$ROOT/tests/flow /usr/bin/python3 "$ROOT/tests/attack/zmtp.py" "$@"
}
{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -n '*' -o "$TMP/nodes.key"
	poolscope-keys new brokers --role broker -o "$TMP/brokers.key"
	poolscope-keys new reports --role reader -p 'acct$pool' -o "$TMP/reports.key"
} >/dev/null || exit 1

# pool ARGUMENT...: an aggregator and a broker, each with a TCP listener and a Unix socket.
pool() {
	start aggregator poolscope-aggregator "$@" --connect-rate 0 --listen "ipc://$DIR/run/intake.ipc" \
		--listen "$intake" --reader "ipc://$DIR/run/reader.ipc" --reader "$reader" &&
		start broker poolscope-broker "$@" --connect-rate 0 --listen "ipc://$DIR/run/broker.ipc" \
			--listen "$listener" &&
		start agent poolscope-agent -p 'acct$pool' -n node1 --no-samples --no-clock
}

# attacked NAME KEY...: the attack, while an agent works.
attacked() {
	_attacked=$1
	shift
	check "$_attacked" zmtp peers "$SEED" "$((count / 2))" \
		"$intake=$(pid aggregator)" "$reader=$(pid aggregator)" "$listener=$(pid broker)" \
		"ipc://$DIR/run/intake.ipc=$(pid aggregator)" "ipc://$DIR/run/reader.ipc=$(pid aggregator)" \
		"ipc://$DIR/run/broker.ipc=$(pid broker)" "$@"
	sed 's/^/# /' "$TMP/out"
	check "an event goes through meanwhile" timeout 120 poolscope-emit test during --wait stored
	for each in agent broker aggregator; do
		stop $each
		check_text "the $each ends as it should" 0 "$STATUS"
	done
}

check "a pool with keys" pool || exit 1
attacked "peers with and without keys end no service" \
	-k "$TMP/nodes.key" -k "$TMP/brokers.key" -k "$TMP/reports.key"
check "a pool without keys" pool --insecure || exit 1
attacked "peers end no service without keys"

# ---- a server
at=tcp://127.0.0.1:26403
echo "event 1 node1 work:step number=1" >"$TMP/events"

# come_and_go COMMAND ARGUMENT...: again and again, while the server is there.
come_and_go() {
	_command=$1
	shift
	while kill -0 "$served" 2>/dev/null; do
		# shellcheck disable=SC2086 # words
		timeout 1 poolscope $_command "$@" >/dev/null 2>"$TMP/client.$$"
		_got=$?
		[ $_got -le 124 ] || { echo "$_command: $_got" && cat "$TMP/client.$$"; } >>"$TMP/ended"
	done
}

# clients KEY...: a broker and an agent that stay, and programs that come and go.
clients() {
	zmtp server "$SEED" $((count / 200)) 26403 "$1" >"$TMP/served" 2>&1 &
	served=$!
	wait_until 'grep -q listening "$TMP/served"'
	shift
	start broker poolscope-broker --aggregator "$at" "$@" --listen "ipc://$DIR/run/broker.ipc"
	start agent poolscope-agent -p 'acct$pool' -n node1 --no-samples --no-clock --broker "$at" "$@"
	: >"$TMP/ended"
	loops=
	for each in "stats status" "dump -p acct\$pool" "top --once" "stats nodes -p acct\$pool"; do
		come_and_go "$each" --connect "$at" "$@" &
		loops="$loops $!"
	done
	come_and_go "import emits -p acct\$pool $TMP/events" --broker "$at" "$@" &
	# shellcheck disable=SC2086 # words
	wait $! $loops
	wait "$served"
}
for how in keys insecure; do
	if [ $how = keys ]; then
		clients "$DIR/keys/server.key" --key "$TMP/nodes.key"
	else
		clients "" --insecure
	fi
	tail -n 1 "$TMP/served" | sed 's/^/# /'
	check_text "a server with wrong answers ends no program that connects ($how)" "" "$(cat "$TMP/ended")"
	for each in agent broker; do
		check "nor the $each ($how)" alive $each
		stop $each
		check_text "... which ends as it should" 0 "$STATUS"
	done
done
