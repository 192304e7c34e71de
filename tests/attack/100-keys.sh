#!/bin/sh
# Doors with keys: who has none, who has a wrong one, who wants more than the
# list says, and strangers that shake hands without end (FLOOD seconds).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

door=tcp://127.0.0.1:25700
intake=tcp://127.0.0.1:25701
reader=ipc://$DIR/run/reader.ipc
keyed() {
	_keyed=$1
	shift
	check "$_keyed" env TMP="$TMP" SLOW="$SLOW" /usr/bin/python3 \
		"$ROOT/tests/attack/keyed.py" "$@"
	sed 's/^/# /' "$TMP/out"
}
{
	poolscope-keys new server --role server
	poolscope-keys new nodes -p 'acct$pool' -n 'n*' -o "$TMP/nodes.key"
	poolscope-keys new others -p 'other$pool' -n 'o-*' -o "$TMP/others.key"
	poolscope-keys new reports --role reader -p 'acct$pool' -o "$TMP/reports.key"
} >/dev/null || exit 1
check "an aggregator with a door of keys" start aggregator poolscope-aggregator \
	--listen "ipc://$DIR/run/intake.ipc" --listen "$intake" \
	--pid-file "$DIR/run/aggregator.pid" || exit 1
check "a broker with one" start broker poolscope-broker \
	--listen "$door" --listen "ipc://$DIR/run/broker.ipc" \
	--pid-file "$DIR/run/broker.pid" || exit 1
for at in "$door" "$intake"; do
	keyed "strangers are not let in ($at)" \
		strangers "$at" "$TMP/nodes.key" "$reader"
	keyed "a key may what its line says, and no more" roles "$at" \
		"$TMP/nodes.key" "$TMP/others.key" "$TMP/reports.key" "$reader"
	keyed "who takes the name of another gets nothing of his" \
		twins "$at" "$TMP/nodes.key"
done
keyed "strangers that shake hands without end stop nobody" \
	flood "$door" "$TMP/nodes.key" "$(pid broker)" "${FLOOD:-4}"
keyed "a key that is revoked is out at once" \
	revoked "$door" "$TMP/nodes.key" nodes "$reader"
stop broker
check_text "the broker ends as it should" 0 "$STATUS"
stop aggregator
check_text "so does the aggregator" 0 "$STATUS"
check_status 1 "the log has no secret in it" grep -qF \
	"$(sed -n 's/^secret: //p' "$TMP/nodes.key")" "$TMP/broker.log" "$TMP/aggregator.log"
