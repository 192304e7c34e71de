#!/bin/sh
# The broker among real sockets: who gets what, who hears busy, what garbage
# costs, how it starts and stops.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
listener=ipc://$DIR/run/broker.ipc
intake=ipc://$DIR/run/intake.ipc
other=ipc://$DIR/run/other.ipc
peer() {
	SLOW=$SLOW /usr/bin/python3 "$ROOT/tests/flow/peer.py" "$@"
}

check "it starts and says so on --ready-fd" start broker poolscope-broker \
	--node head --pid-file "$DIR/run/broker.pid" \
	--route "fine*=$other"
check_text "its socket is for its user only" 600 \
	"$(stat -c %a "$DIR/run/broker.ipc")"
check_text "the pid file has its pid" "$(pid broker)" \
	"$(cat "$DIR/run/broker.pid")"

check "it reports its counters" peer status "$listener" head
check "without an aggregator it says busy and does not block" \
	peer busy "$listener"
check "frames go up and answers down unchanged" peer relay "$listener" "$intake"
check "garbage is answered and counted by reason" \
	peer garbage "$listener" "$SEED"
check "routes that are too long are dropped and counted" peer shapes "$listener"
check "the largest frame passes, a larger one costs the connection" \
	peer large "$listener" "$intake"
check "answers to nobody are counted" peer nobody "$listener" "$intake"
check "a pause of the aggregator costs nobody a retry" \
	peer slow "$listener" "$intake"
check "an aggregator that is stuck makes only its own partitions busy" \
	peer stuck "$listener" "$intake" "$other"

check_status 1 "a second one with the same pid file is refused" \
	poolscope-broker --pid-file "$DIR/run/broker.pid"
check_printed "... and says which process runs" \
	"^poolscope-broker: already running as process $(pid broker) ($DIR/run/broker.pid)\$"
check_status 1 "a second one on the same socket is refused" poolscope-broker
check_printed "... and says who listens" \
	"process $(pid broker) already listens"
check "the first goes on" peer status "$listener" head

check "stopped in the middle of a stream it leaves no hole" \
	peer drain "$listener" "$intake" "$(pid broker)"
wait "$(pid broker)"
check_text "TERM ends it with 0" 0 $?
rm -f "$TMP/broker.pid"
check "its socket is gone" test ! -e "$DIR/run/broker.ipc"
check "its pid file is gone" test ! -e "$DIR/run/broker.pid"

check "it starts again" start broker poolscope-broker --node head
stop broker KILL
check "a killed one leaves its socket behind" test -S "$DIR/run/broker.ipc"
check "the next one takes it over" start broker poolscope-broker --node head
check "... and answers" peer status "$listener" head
stop broker INT
check_text "INT ends it with 0" 0 "$STATUS"

check "routes of its own and no default" start broker poolscope-broker \
	--aggregator "" --route "a\$x=$intake" --route "?\$?=$other" \
	--route "c=d*=$intake" --route "b*=$intake"
check "the first pattern that matches wins" \
	peer routes "$listener" "$intake" "$other"
stop broker

check "a listener on loopback" start broker poolscope-broker --node head --insecure \
	--listen "tcp://localhost:25570" --listen "$listener"
check "... speaks to agents" peer busy tcp://127.0.0.1:25570
check "... and to those on the other listener" peer busy "$listener"
check "raw bytes on it do no harm" peer raw tcp://127.0.0.1:25570
stop broker

check_status 1 "a listener without keys does not open" poolscope-broker \
	--listen "tcp://127.0.0.1:25571"
check_printed "... and says what is missing" "keys/server.key"
check "or --insecure" start broker poolscope-broker --insecure \
	--listen "tcp://0.0.0.0:25571"
stop broker
check_status 1 "a file that is not a socket is not taken over" \
	poolscope-broker --listen "ipc://$ROOT/Makefile"
check "... and stays" test -f "$ROOT/Makefile"

check_status 2 "an unknown option is wrong usage" poolscope-broker --nonsense
check_status 2 "a queue of nothing is wrong usage" poolscope-broker --queue 0
check_status 2 "a route without an endpoint is wrong usage" \
	poolscope-broker --route "a="
check_status 2 "too little memory for one peer is wrong usage" \
	poolscope-broker --memory-max 1MiB
check_status 2 "a closed --ready-fd is wrong usage" \
	poolscope-broker --ready-fd 77
check_status 1 "an endpoint of another kind is refused" \
	poolscope-broker --listen "udp://1.2.3.4:5"
