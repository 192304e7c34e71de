#!/bin/sh
# Tenants: one floods, and one asks for what is another's.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
for lines in 1 16; do
	check "a flood over $lines connections does not stop the others" \
		/usr/bin/python3 "$ROOT/tests/attack/tenants.py" \
		"ipc://$DIR/run/broker.ipc" "$TMP" "$lines" "${SECONDS_EACH:-3}"
	sed 's/^/# /' "$TMP/out"
done
stop broker

# ---- what crosses the wire to a reader of one partition
check "an agent of two tenants" start agent poolscope-agent --no-samples \
	--no-clock --broker "ipc://$DIR/run/intake.ipc" -p 'a$pool' -n node1
poolscope-emit -p 'a$pool' test mine --message of-a --wait stored
poolscope-emit -p 'b$pool' test theirs --message secret-of-b --wait stored
check "a proxy that records the wire" start wire "$ROOT/tests/attack/mutant.py" \
	"ipc://$TMP/wire.ipc" "ipc://$DIR/run/reader.ipc" none "$TMP/recorded"
for how in "--format jsonl" "--format csv"; do
	# shellcheck disable=SC2086 # words
	check "a reader of one partition ($how)" timeout 60 poolscope-dump \
		-p 'a$pool' --connect "ipc://$TMP/wire.ipc" $how
	check_printed "... gets it" of-a
done
timeout 60 poolscope-stats phases -p 'a$pool' --connect "ipc://$TMP/wire.ipc" >"$TMP/stats" 2>&1
check "what it was sent is there" grep -q of-a "$TMP/recorded"
check_status 1 "not a byte of another's record crossed the wire" \
	grep -q secret-of-b "$TMP/recorded"
check "of another's it is sent when it asks" timeout 60 poolscope-dump \
	-p 'b$pool' --connect "ipc://$TMP/wire.ipc" --format jsonl
check "... which shows that the wire was recorded" grep -q secret-of-b "$TMP/recorded"

# ---- the ingest rate of a key
stop aggregator
listener=tcp://127.0.0.1:25720
intake=tcp://127.0.0.1:25721
rate=262144
{
	poolscope-keys new server --role server
	poolscope-keys new pool -p 'acct$pool' -o "$TMP/pool.key"
	poolscope-keys new flood -p 'acct$flood' -o "$TMP/flood.key"
} >/dev/null || exit 1
# limited NAME LISTENER
limited() {
	check "a key that floods the $1 is held to its rate, and a sender that waits gets through" \
		/usr/bin/python3 "$ROOT/tests/attack/tenants.py" limited "$2" "$TMP" 4 \
		"${SECONDS_EACH:-3}" "$TMP/pool.key" "$TMP/flood.key" $rate \
		"ipc://$DIR/run/reader.ipc"
	sed 's/^/# /' "$TMP/out"
}
check "an aggregator with a low ingest rate" start aggregator poolscope-aggregator \
	--ingest-rate $rate --listen "ipc://$DIR/run/intake.ipc" --listen "$intake"
limited aggregator "$intake"
check "its status" poolscope-stats status -v
check_printed "... says so" 'rate_limited *[1-9]'
stop aggregator
check "one without a limit" start aggregator poolscope-aggregator --ingest-rate 0
check "and a broker with a low ingest rate" start broker poolscope-broker \
	--ingest-rate $rate --listen "ipc://$DIR/run/broker.ipc" --listen "$listener"
limited broker "$listener"
check "its status" poolscope-stats status -v --connect "ipc://$DIR/run/broker.ipc"
check_printed "... says so" 'rate_limited *[1-9]'
