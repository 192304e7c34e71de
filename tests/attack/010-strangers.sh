#!/bin/sh
# Peers that misbehave before a message is read: claims of memory, connections
# that stay idle.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25610
intake=tcp://127.0.0.1:25611
reader=tcp://127.0.0.1:25612

check "an aggregator with TCP listeners" start aggregator poolscope-aggregator \
	--insecure --listen "ipc://$DIR/run/intake.ipc" --listen "$intake" \
	--reader "ipc://$DIR/run/reader.ipc" --reader "$reader"
few_files poolscope-broker 150
check "a broker that may have 150 files" start broker \
	"$TMP/poolscope-broker" --insecure \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc"

attack "lengths of up to 2^64 cost the broker nothing and the peer its connection" \
	claims "$listener" "$(pid broker)"
attack "... and the aggregator's intake" claims "$intake" "$(pid aggregator)"
attack "... and its listener for readers" claims "$reader" "$(pid aggregator)"
attack "idle connections beyond the limit of files stop no honest agent" \
	idle "$listener" "$(pid broker)" 150
stop broker
check_text "the broker ends as it should" 0 "$STATUS"
stop aggregator
check_text "so does the aggregator" 0 "$STATUS"
