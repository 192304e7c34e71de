#!/bin/sh
# Nonsense by the thousand (HOSTILE connections) at the broker's door, and as
# many who knock at one that holds them off, while honest agents work.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

door=tcp://127.0.0.1:25620
check "an aggregator" start aggregator poolscope-aggregator
check "a broker with a door of TCP" start broker poolscope-broker --insecure \
	--connect-rate 0 \
	--listen "$door" --listen "ipc://$DIR/run/broker.ipc"
attack "hostile connections crash nothing and fill nothing" \
	garbage "$door" "$(pid broker)" "${HOSTILE:-20000}" "$SEED"
check "the broker lives" alive broker
check "the aggregator lives" alive aggregator
stop broker

# ---- one that takes fewer: they are held off
check "a broker that takes few a second" start broker poolscope-broker --insecure \
	--connect-rate 10 \
	--listen "$door" --listen "ipc://$DIR/run/broker.ipc"
attack "many who knock are held off, who is in goes on, and others come in after" \
	knock "$door" 400
stop broker

# ---- as it is by default, and a flood
check "a broker with the door that it has by default" start broker poolscope-broker --insecure \
	--listen "$door" --listen "ipc://$DIR/run/broker.ipc"
attack "a flood of those who knock costs nobody who is in his place" \
	flood "$door" "$(pid broker)" "${HOSTILE:-20000}" "$SEED"
