#!/bin/sh
# Programs that send without an agent have the same list of brokers.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016 # a dollar is part of the name
farm='a$farm' benches='a$benches' long='a$long'
up="ipc://$DIR/run/intake.ipc"
first="ipc://$DIR/run/first.ipc" second="ipc://$DIR/run/second.ipc"

begin() { start "$1" poolscope-broker --listen "ipc://$DIR/run/$1.ipc" --aggregator "$up"; }

# rows PARTITION: how many are stored.
rows() { poolscope-dump -p "$1" --format csv | tail -n +2 | wc -l; }

check "an aggregator" start aggregator poolscope-aggregator
check "the second of two brokers" begin second
check "an import goes to the second when nobody is the first" \
	poolscope-import --broker "$first" --broker "$second" cascade deploy/demo/render-60.jsonl
check_printed "... and says so" "no connection to $first: trying $second"
check_printed "... with all rows" "^[1-9][0-9]* events, 0 bad lines"

# A configuration with the endpoint of queries.
echo "connect = \"ipc://$DIR/run/reader.ipc\"" >"$TMP/readers.conf"
check "the broker of the instance" begin broker
check "an endpoint of readers sends no import astray" timeout 60 \
	poolscope-import --config "$TMP/readers.conf" --timeout 20s cascade deploy/demo/render-60.jsonl
stop broker
wrong_usage "an import has no such option" "unknown option --connect" \
	poolscope-import --connect "$second" cascade deploy/demo/render-60.jsonl

check "the first one" begin first
kill -STOP "$(pid first)"
check "made-up runs go to the second when the first does not answer" \
	poolscope-generate testrun --broker "$first" --broker "$second" -p "$farm" --runs 20 --base 0
check_printed "... and says so" "no connection to $first: trying $second"
poolscope-generate results --files 12 --base 0 -o "$TMP/results" >"$TMP/out" 2>&1
mkdir "$TMP/archive"
check "results go to the second as well" \
	poolscope-upload results --broker "$first" --broker "$second" -p "$benches" \
	-d "$TMP/results" -a "$TMP/archive" --target store
check_printed "... and says so" "no connection to $first: trying $second"
check_text "... all of them" 12 "$(find "$TMP/archive" -type f | wc -l)"
kill -CONT "$(pid first)"

# Killed under way: what is stored is what was sent, each row once.
began() {
	"$ROOT/tests/flow/counters.py" --connect "$first" |
		/usr/bin/python3 -c 'import json, sys
sys.exit(json.load(sys.stdin)["broker"]["received_messages"] < 20)'
}
poolscope-generate testrun --broker "$first" --broker "$second" -p "$long" --runs "${RUNS:-100000}" \
	--base 0 >"$TMP/long" 2>&1 &
sender=$!
check "batches pass" wait_until began
check "... and more are under way" kill -0 "$sender"
stop first KILL
wait "$sender"
check_text "the one that was sending ends well when its broker is killed" 0 $?
check "everything is indexed" wait_until indexed 60
check_text "... and each row is there once" \
	"$(sed -n 's/^\([0-9]*\) rows, .*/\1/p' "$TMP/long")" "$(rows "$long")"

# One of several listeners does not know the key.
listener=tcp://127.0.0.1:25740
poolscope-keys new server --role server >"$TMP/out" 2>&1
poolscope-keys new gone >"$TMP/out" 2>&1
poolscope-keys revoke gone >"$TMP/out" 2>&1
check "a listener with keys" start third poolscope-broker --listen "$listener" --aggregator "$up"
key=$DIR/keys/gone.key
check "a key that one broker refuses is no matter when the next takes it" \
	poolscope-import --key "$key" --broker "$listener" --broker "$second" cascade deploy/demo/render-60.jsonl
check_printed "... and the message says so" "$listener refuses the key gone"
check_status 1 "a key that all of them refuse is the end" \
	poolscope-import --key "$key" --broker "$listener" --broker "$listener" cascade deploy/demo/render-60.jsonl
check_printed "... with what to do" "^poolscope-import: .* refuses the key gone: .*poolscope keys allow"

# shellcheck disable=SC2046 # words
wrong_usage "nine brokers are too many" "^poolscope-import: --broker: more than 8" \
	poolscope-import $(for i in 1 2 3 4 5 6 7 8 9; do echo "--broker ipc:///tmp/none$i"; done) cascade /dev/null
