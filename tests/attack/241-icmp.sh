#!/bin/sh
# Programs whose connects are answered with ICMP errors that libzmq takes for bugs of its
# own: the protocol is not there (2), the source route failed (5).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

# In full, so that tests/one.sh lets no other script have the port at the same time.
for at in tcp://127.0.0.1:26422 tcp://127.0.0.1:26455; do
	code=${at#"${at%?}"}
	/usr/bin/python3 "$ROOT/tests/attack/icmp.py" "${at##*:}" "$code" >"$TMP/icmp" 2>&1 &
	icmp=$!
	if ! wait_until 'grep -q listening "$TMP/icmp"'; then
		cat "$TMP/icmp"
		echo "SKIPPED: no right to raw sockets"
		exit 0
	fi
	check "a broker connects (code $code)" start broker poolscope-broker --aggregator "$at" --insecure \
		--listen "ipc://$DIR/run/broker.ipc"
	check "its connects are answered" wait_until 'grep -q "answered 2" "$TMP/icmp"' 30
	check_status 3 "a reader ends with a sentence" timeout 60 poolscope-stats status --connect "$at" --insecure
	kill "$icmp"
	wait "$icmp" 2>/dev/null
	check "the broker lives" alive broker
	stop broker
	check_text "... and ends as it should" 0 "$STATUS"
done
