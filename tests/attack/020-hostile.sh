#!/bin/sh
# Nonsense by the thousand (HOSTILE connections) at the broker's listener, and
# as many connects at one with a low connection rate, while honest agents work.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25620
check "an aggregator" start aggregator poolscope-aggregator
check "a broker with a TCP listener" start broker poolscope-broker --insecure \
	--connect-rate 0 \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"
attack "hostile connections crash nothing and fill nothing" \
	garbage "$listener" "$(pid broker)" "${HOSTILE:-20000}" "$SEED"
check "the broker lives" alive broker
check "the aggregator lives" alive aggregator
stop broker

# ---- one with a low connection rate
check "a broker that accepts few connections a second" start broker poolscope-broker --insecure \
	--connect-rate 10 \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"
attack "excess connects wait, connected agents go on, and others connect afterwards" \
	connects "$listener" 400
stop broker

# ---- the default rate, and a flood
check "a broker with the default connection rate" start broker poolscope-broker --insecure \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"
attack "a flood of connects costs no connected agent its place" \
	flood "$listener" "$(pid broker)" "${HOSTILE:-20000}" "$SEED"
