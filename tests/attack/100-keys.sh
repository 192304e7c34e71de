#!/bin/sh
# Listeners with keys: peers without one, with a wrong one, peers that want more
# than the list allows, and handshakes without end (FLOOD seconds).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25700
intake=tcp://127.0.0.1:25701
reader=ipc://$DIR/run/reader.ipc
{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -n 'n*' -o "$TMP/nodes.key"
	poolscope-keys new others -p 'other$pool' -n 'o-*' -o "$TMP/others.key"
	poolscope-keys new reports --role reader -p 'acct$pool' -o "$TMP/reports.key"
} >/dev/null || exit 1
check "an aggregator whose listener has keys" start aggregator poolscope-aggregator \
	--listen "ipc://$DIR/run/intake.ipc" --listen "$intake" \
	--pid-file "$DIR/run/aggregator.pid" || exit 1
check "a broker with one" start broker poolscope-broker \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc" \
	--pid-file "$DIR/run/broker.pid" || exit 1
for at in "$listener" "$intake"; do
	keyed "strangers are refused ($at)" \
		strangers "$at" "$TMP/nodes.key" "$reader"
	keyed "a key may what its line says, and no more" roles "$at" \
		"$TMP/nodes.key" "$TMP/others.key" "$TMP/reports.key" "$reader"
	keyed "a peer that gives itself a name is not let in" names "$at" "$TMP/nodes.key"
done
keyed "strangers that shake hands without end stop nobody" \
	flood "$listener" "$TMP/nodes.key" "$(pid broker)" "${FLOOD:-4}"
keyed "a revoked key is refused at once" \
	revoked "$listener" "$TMP/nodes.key" nodes "$reader"
stop broker
check_text "the broker ends as it should" 0 "$STATUS"
stop aggregator
check_text "so does the aggregator" 0 "$STATUS"
check_status 1 "the log has no secret in it" grep -qF -e \
	"$(sed -n 's/^secret: //p' "$TMP/nodes.key")" "$TMP/broker.log" "$TMP/aggregator.log"
