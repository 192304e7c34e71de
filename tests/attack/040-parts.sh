#!/bin/sh
# Messages that do not end: libzmq keeps their parts, whatever the limits of
# frames and queues say.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

door=tcp://127.0.0.1:25640
check "an aggregator" start aggregator poolscope-aggregator
check "a broker with a door of TCP" start broker poolscope-broker --insecure \
	--listen "$door" --listen "ipc://$DIR/run/broker.ipc"
attack "messages without an end cost the peer its connection" \
	parts "$door" "$(pid broker)"
attack "who sends many parts slowly is let alone" slowly "$door" "$(pid broker)"
check "the broker lives" alive broker
