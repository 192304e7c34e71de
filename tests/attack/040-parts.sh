#!/bin/sh
# Messages that do not end: libzmq stores their parts, whatever the limits of
# frames and queues say.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25640
check "an aggregator" start aggregator poolscope-aggregator
check "a broker with a TCP listener" start broker poolscope-broker --insecure \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"
attack "messages without an end cost the peer its connection" \
	parts "$listener" "$(pid broker)"
attack "a peer that sends many parts slowly stays connected" slowly "$listener" "$(pid broker)"
check "the broker lives" alive broker
stop broker

# ---- with a key it is the same
{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -o "$TMP/nodes.key"
} >/dev/null || exit 1
stop aggregator # which has read the list
check "an aggregator with keys" start aggregator poolscope-aggregator
check "a broker whose listener has keys" start broker poolscope-broker \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"
attack "a peer with a key whose message does not end is dropped as well" \
	parts "$listener" "$(pid broker)" "$TMP/nodes.key"
check "the broker lives on" alive broker
