#!/bin/sh
# A farm's 1,000 finished runs are stored one by one, then compacted: every answer must be the
# same bytes. Of the generated runs each 50th failed: 20 errors.
#
# Then comes what is late. Run 500 was all right, and turns out to have failed: 21 errors. Run 7
# has been flashed once more, in 30 s; a run 1000 appears. What had been packed before must
# neither be lost nor come twice: 1001 runs, and run 7 has two durations of flash.
#
# Compacted again, derived again, all answers stay the same bytes.
#
# While it runs, the aggregator leaves the newest 16,384 runs of a partition as they are: of
# 40,000 more about 23,616 are packed without being asked.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# say WHERE: all that can be asked of runs and entities, in $TMP/WHERE.
say() {
	mkdir -p "$TMP/$1" &&
		poolscope-stats deltas --format json -o "$TMP/$1/deltas" &&
		poolscope-stats groups --format json -o "$TMP/$1/groups" &&
		poolscope-stats iterations --format json -o "$TMP/$1/iterations" &&
		poolscope-stats iterations --format json --newest 20 -o "$TMP/$1/newest" &&
		poolscope-stats deltas --format json -o "$TMP/$1/by-name" --run 7 --run 500 --run 999 &&
		poolscope-dump --kind run --format jsonl -o "$TMP/$1/runs" &&
		poolscope-dump --kind entity --format jsonl -o "$TMP/$1/entities" &&
		poolscope-dump --kind phase --format jsonl -o "$TMP/$1/phases"
}
same() {
	check "$1: everything is asked" say "$2"
	check "... and answered as before" diff -r "$TMP/$3" "$TMP/$2"
}
compact() {
	stop aggregator
	check "$1" poolscope-admin compact --models "$ROOT/deploy/models"
	check "... and verify finds nothing" poolscope-admin verify
	# shellcheck disable=SC2119 # of the same store
	aggregate --models "$ROOT/deploy/models"
}
# packed: are blocks in use?
packed() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		/usr/bin/python3 -c 'import json, sys
store = json.load(open(sys.argv[1]))["store"]
sys.exit(not (store["rows_run_blocks"] > 0 and store["rows_entity_blocks"] > 0 and
    store["rows_runs"] + store["rows_entities"] < 16))' "$TMP/status"
}
# errors: how many runs of the group have failed; runs: how many there are; flashed RUN: how
# often.
errors() {
	poolscope-stats groups --format json >"$TMP/json" &&
		/usr/bin/python3 -c 'import json, sys
print(*(row["errors"] for row in json.load(open(sys.argv[1]))["rows"] if row["group"] == "device_group_1"))' "$TMP/json"
}
runs() {
	poolscope-dump --kind run --format jsonl | wc -l
}
flashed() {
	poolscope-dump --kind phase --name testrun:flash --format jsonl | grep -c "\"run\": *\"$1\""
}

aggregate --models "$ROOT/deploy/models"
start broker poolscope-broker || exit 1
check "1,000 runs are sent" poolscope-generate -q testrun --runs 1000 --base "$BASE" -p "$PARTITION"
wait_until indexed 60 || fail "they are indexed"
check "everything is asked" say single
answer "a thousand runs" 1000 runs
answer "twenty have failed" 20 errors
compact "all is compacted"
check "runs and entities are in blocks" packed
same "compacted" packed single
records <<-'END'
	entity n1 run 500 error=broken
	event 200000 n1 run:flash_start run=7
	event 200030 n1 run:flash_end run=7
	event 200040 n1 run:request run=1000
END
answer "a run more" 1001 runs
answer "one more has failed" 21 errors
answer "run 7 was flashed twice" 2 flashed 7
answer "run 8 once" 1 flashed 8
check "everything is asked" say late
compact "all is compacted again"
same "compacted again" again late
stop aggregator
check "all is derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
check "... and verify finds nothing" poolscope-admin verify
aggregate --models "$ROOT/deploy/models"
same "derived again" derived late
stop aggregator

PARTITION='acct$farm' POOLSCOPE_PARTITION='acct$farm'
aggregate --models "$ROOT/deploy/models" --compact-after 1s
check "40,000 runs are sent" poolscope-generate -q testrun --runs 40000 --base "$BASE" -p "$PARTITION"
rests() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		/usr/bin/python3 -c 'import json, sys
store = json.load(open(sys.argv[1]))["store"]
sys.exit(not (store["rows_run_blocks"] > 80 and 16000 < store["rows_runs"] < 18000))' "$TMP/status"
}
wait_until rests 60 || fail "runs are packed"
answer "no run is lost" 40000 runs
stop aggregator
check "verify finds nothing" poolscope-admin verify
