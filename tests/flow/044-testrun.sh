#!/bin/sh
# Test runs of a device farm: imported, through broker and aggregator, every
# run and every event once and with the times of the files.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/testruns.sh
. "$ROOT/tests/flow/testruns.sh"
cases=$ROOT/tests/golden/testrun

# stored PARTITION: how many records the aggregator has.
stored() {
	dump "$1" | wc -l
}

# ---- wrong usage is one line and 2
wrong_usage "test runs without a partition are wrong usage" "test runs have no partition of their own" \
	poolscope-import testrun "$cases/m01_twenty"
wrong_usage "test runs are not read from standard input" "directories, not standard input" \
	poolscope-import -p 'a$b' testrun -

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1

# ---- what is there
mkdir "$TMP/empty"
check_status 1 "a directory without either file is an error" \
	poolscope-import -p 'a$b' testrun "$TMP/empty"
check_printed "... that names them" "$TMP/empty: has neither testruns.jsonl nor events.jsonl"
check_status 1 "so is one that is not there" poolscope-import -p 'a$b' testrun "$TMP/nothing"
check_printed "... by its name" "$TMP/nothing: No such file"
check_status 1 "and a file" poolscope-import -p 'a$b' testrun "$cases/m01_twenty/events.jsonl"
check_printed "... by its name" "events.jsonl: Not a directory"

for each in m01_twenty m02_fortyfive m03_irregular_60 m04_thousand; do
	rows=$(cat "$cases/$each/testruns.jsonl" "$cases/$each/events.jsonl" | wc -l)
	check "$each is imported" poolscope-import -p "farm\$$each" testrun "$cases/$each"
	check_text "... and says so" "$rows rows, 0 bad lines" "$(cat "$TMP/out")"
	check "... every run and event is there once, at its times" has "farm\$$each" "$cases/$each"
	check "... the same again is taken" poolscope-import -p "farm\$$each" testrun "$cases/$each/"
	check_text "... and known" "$rows rows, 0 bad lines, $rows already there" "$(cat "$TMP/out")"
	check "... and nothing is there twice" has "farm\$$each" "$cases/$each"
done

# ---- another order, in another partition
mkdir "$TMP/shuffled"
for each in testruns events; do
	/usr/bin/python3 -c 'import random, sys
lines = sys.stdin.readlines()
random.Random(17).shuffle(lines)
sys.stdout.writelines(lines)' <"$cases/m03_irregular_60/$each.jsonl" >"$TMP/shuffled/$each.jsonl"
done
check "shuffled lines are another order" sh -c \
	'! cmp -s "$1" "$2"' x "$TMP/shuffled/events.jsonl" "$cases/m03_irregular_60/events.jsonl"
check "... and imported" poolscope-import -p 'farm$shuffled' testrun "$TMP/shuffled"
check "... the same is there" has 'farm$shuffled' "$cases/m03_irregular_60"

# ---- one file, fractions, a node
mkdir "$TMP/half"
cat >"$TMP/half/events.jsonl" <<'END'
{"testrun_id":"r 1","event_name":"Task in queue","event_emit":1508000063.695798123,"event_receive":1508000063.695798124}

{"testrun_id":"r 1","event_name":"flash","event_emit":1.5080000645e9,"event_receive":null}
{"testrun_id":"r 2","event_name":"flash","event_emit":-0.000000001}
END
check "events without runs are taken" poolscope-import -p 'farm$half' -n 'lab 1' testrun "$TMP/half"
check "... to the nanosecond, of the given node" has 'farm$half' "$TMP/half" 'lab 1'
check "the same of another node is another import" \
	poolscope-import -p 'farm$half2' testrun "$TMP/half"
check "... whose rows are its" has 'farm$half2' "$TMP/half"
mkdir "$TMP/other"
printf '%s\n' '{"testrun_id":"r 1","device_group":"g","host_worker_instances":[["w",1.5],["x]\"",2]],"error":null}' \
	'{"testrun_id":"r 3","error":"no\nlink"}' >"$TMP/other/testruns.jsonl"
check "runs without events are taken" poolscope-import -p 'farm$other' testrun "$TMP/other"
check "... with the properties that they have" has 'farm$other' "$TMP/other"

# ---- bad lines
mkdir "$TMP/bad"
{
	head -n 2 "$cases/m01_twenty/testruns.jsonl"
	echo '{"testrun_id":"1","error":{"what":1}}'
} >"$TMP/bad/testruns.jsonl"
{
	head -n 2 "$cases/m01_twenty/events.jsonl"
	echo 'no json'
	echo '{"testrun_id":"a\u0007b","event_name":"e","event_emit":1}'
	printf '{"testrun_id":"%s","event_name":"e","event_emit":1}\n' \
		"$(head -c 256 /dev/zero | tr '\0' x)"
	echo '{"testrun_id":"1","event_name":"e","event_emit":"1"}'
	echo '{"testrun_id":"1","event_name":"e","event_emit":1,"event_receive":99999999999}'
	printf '{"x":"%s"}\n' "$(head -c 1100000 /dev/zero | tr '\0' x)"
	sed -n 3p "$cases/m01_twenty/events.jsonl"
} >"$TMP/bad/events.jsonl"
check_status 1 "bad lines are an error in the end" poolscope-import -p 'farm$bad' testrun "$TMP/bad"
check_printed "... that counts them" "7 bad lines were left out"
check_text "... the others are imported" "5 rows, 7 bad lines" "$(cat "$TMP/out")"
check_printed "... the run by its file and number" "^$TMP/bad/testruns.jsonl:3: \"error\" is not text"
check_printed "... what is no JSON" "^$TMP/bad/events.jsonl:3: not JSON"
check_printed "... an id that is no name" 'events.jsonl:4: "testrun_id" .*control character'
check_printed "... a limit with its value" 'events.jsonl:5: "testrun_id" is longer than 255 bytes'
check_printed "... a time that is text" 'events.jsonl:6: "event_emit" is not a number'
check_printed "... a time out of range" "events.jsonl:7: \"event_receive\": time '99999999999' is not between"
check_printed "... a line that is too long" 'events.jsonl:8: is longer than 1048576 bytes'
check_text "... and there" 5 "$(stored 'farm$bad')"
check_status 1 "--strict stops at the first" poolscope-import --strict -p 'farm$strict' testrun "$cases/m01_twenty" "$TMP/bad"
check_printed "... says which" "testruns.jsonl:3: "
check_printed "... and imports nothing" "nothing was imported"
check_text "... of none of them" "" "$(dump 'farm$strict' 2>/dev/null)"

# ---- live, through this host's agent
start agent poolscope-agent --no-samples -p 'farm$live' -n lab || exit 1
check "a run is reported as it proceeds" sh -c \
	'poolscope-emit run request --run 1 --attr device_group=g --ts 100 &&
	poolscope-emit run queue_start --run 1 --ts 101.5 --wait stored'
check "... and history, with when it was received" poolscope-emit run request --run 0 \
	--ts 7 --receive-ts 7.000000001 --wait stored
check "... many in lines" sh -c \
	'sed "s/.*_id\":\"\([^\"]*\).*name\":\"\([^\"]*\).*emit\":\([0-9]*\).*receive\":\([0-9]*\).*/{\"source\":\"run\",\"event\":\"\2\",\"run\":\"\1\",\"ts\":\3,\"receive_ts\":\4}/" \
		"$1/events.jsonl" | poolscope-emit -p "farm\$lines" --stdin --wait stored --timeout 60s' x "$cases/m03_irregular_60"
check_text "... all of it is there" \
	'[["queue_start", 101500000000, {"run": "1"}], ["request", 7000000000, {"receive_ns": 7000000001, "run": "0"}], ["request", 100000000000, {"device_group": "g", "run": "1"}]]' \
	"$(dump 'farm$live' | /usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(json.dumps(sorted([r["name"], r["time_ns"], r["attributes"]]
                        for r in rows if r["kind"] == "event" and r["source"] == "run"), sort_keys=True))')"
mkdir "$TMP/events"
cp "$cases/m03_irregular_60/events.jsonl" "$TMP/events"
check "... and the lines are what an import of them is" has 'farm$lines' "$TMP/events" lab
stop agent

stop broker
stop aggregator
