#!/bin/sh
# poolscope-generate: the files that the other maker writes, byte for byte, and
# published what an import of them is.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/testruns.sh
. "$ROOT/tests/flow/testruns.sh"
maker=$ROOT/tests/golden/testrun/m05_generated/gen.py

# ---- wrong usage is one line and 2
wrong_usage "nothing to make is wrong usage" "" poolscope-generate --runs 1 -o "$TMP/x"
wrong_usage "other data are wrong usage" "'dreams' is not one of testrun, results" poolscope-generate dreams --runs 1 -o "$TMP/x"
wrong_usage "no number is wrong usage" "--runs" poolscope-generate testrun -o "$TMP/x"
wrong_usage "the number of another kind is wrong usage" "--files is for results, not for testrun" \
	poolscope-generate testrun --runs 1 --files 1 -o "$TMP/x"
wrong_usage "results are written, not published" "--partition is for testrun, not for results" \
	poolscope-generate results --files 1 -p 'a$b'
wrong_usage "no results are wrong usage" "--files must be greater than 0" poolscope-generate results --files 0 -o "$TMP/x"
wrong_usage "nor can they be of no test" "--tests must be greater than 0" poolscope-generate results --files 1 --tests 0 -o "$TMP/x"
wrong_usage "a file has its limit" "--entries must be from 1 to 65536" \
	poolscope-generate results --files 1 --entries 65537 -o "$TMP/x"
wrong_usage "results beyond the calendar are refused" "are not all between the years 1900 and 2200" \
	poolscope-generate results --files 20000000 --spacing 1000 -o "$TMP/x"
wrong_usage "none are wrong usage" "--runs must be greater than 0" poolscope-generate testrun --runs 0 -o "$TMP/x"
wrong_usage "no place is wrong usage" "missing option: -o DIR or -p NAME" poolscope-generate testrun --runs 1
wrong_usage "two places are wrong usage" "write files, or publish" poolscope-generate testrun --runs 1 -o "$TMP/x" -p 'a$b'
wrong_usage "a base that is no time is wrong usage" "--base: 'noon' is not a time" \
	poolscope-generate testrun --runs 1 --base noon -o "$TMP/x"
wrong_usage "runs beyond the calendar are refused" "20000000 runs, 1000 s apart, are not all between the years 1900 and 2200" \
	poolscope-generate testrun --runs 20000000 --spacing 1000 -o "$TMP/x"
check "... and none of them has made a directory" test ! -e "$TMP/x"

# ---- files of results
check "results are written" poolscope-generate results --files 30 --tests 3 --entries 4 \
	--base 2017-10-14T16:53:20Z --spacing 3600 -o "$TMP/results"
check "... as the benchmarks write and name them, each test in every round" /usr/bin/python3 -c '
import calendar, json, os, sys, time
folder = sys.argv[1]
base = calendar.timegm((2017, 10, 14, 16, 53, 20))
seen = {}
for name in os.listdir(folder):
    path = os.path.join(folder, name)
    r = json.load(open(path))
    start = int(r["startTime"])
    assert isinstance(r["startTime"], str)
    assert name == "%s%s.json" % (r["name"].strip("/").replace("/", "_").replace(":", "_"),
        time.strftime("%Y%m%d%H%M%S", time.gmtime(start))), name
    assert os.stat(path).st_mtime >= start
    entries = r["entries"]["entry"]
    assert [e["name"] for e in entries] == ["BM_%d" % i for i in range(4)]
    for e in entries:
        assert 0 < e["cpuTime"] < e["wallTime"] < 1
        seen.setdefault((r["name"], e["name"]), {})[(start - base) // 3600] = e["wallTime"]
assert len(seen) == 12
def middle(v):
    return sorted(v)[len(v) // 2]
for (test, entry), times in seen.items():
    assert sorted(times) == list(range(10)), sorted(times)
    before = middle([times[i] for i in range(6)])
    after = middle([times[i] for i in range(7, 10)])
    slower = (test, entry) == ("//bench:test_0", "BM_0")
    assert 1.05 < after / before < 1.2 if slower else 0.93 < after / before < 1.07, (test, entry, after / before)
' "$TMP/results"
poolscope-generate results --files 30 --tests 3 --entries 4 \
	--base 2017-10-14T16:53:20Z --spacing 3600 -o "$TMP/again"
check "... and the same for the same options" diff -r "$TMP/results" "$TMP/again"
check_status 1 "what is there is not replaced" poolscope-generate results --files 1 --entries 1 \
	--base 2017-10-14T16:53:20Z -o "$TMP/results"
check_printed "... and named" "results/bench_test_020171014165320.json: File exists"
check "... and as it was" diff -r "$TMP/results" "$TMP/again"
check_status 1 "results in a directory in nothing are an error" \
	poolscope-generate results --files 1 -o "$TMP/no/where"
check_printed "... by its name" "$TMP/no/where: No such file"

# ---- files
mkdir "$TMP/theirs"
/usr/bin/python3 "$maker" --runs 1000 --out "$TMP/theirs"
check "1000 runs are written" poolscope-generate testrun --runs 1000 -o "$TMP/ours"
check "... with the same events" cmp "$TMP/theirs/events.jsonl" "$TMP/ours/events.jsonl"
check "... and the same runs" cmp "$TMP/theirs/testruns.jsonl" "$TMP/ours/testruns.jsonl"
check_text "... and nothing else" "events.jsonl testruns.jsonl" "$(cd "$TMP/ours" && echo *)"
mkdir "$TMP/others"
/usr/bin/python3 -c 'import runpy, sys
maker = runpy.run_path(sys.argv[1])
with open(sys.argv[2], "w") as f:
    for run, events in maker["runs"](2**64 - 1, 500, spacing=7, first=10**12):
        for name, emit, receive in events:
            f.write("{\"testrun_id\":\"%s\",\"event_name\":\"%s\",\"event_emit\":%d,\"event_receive\":%d}\n"
                    % (run, name, 1508000000 + emit, 1508000000 + receive))' \
	"$maker" "$TMP/others/events.jsonl"
check "another seed, spacing, number and base are written" poolscope-generate testrun --runs 500 \
	--seed 18446744073709551615 --spacing 7 --first 1000000000000 --base 2017-10-14T16:53:20Z -o "$TMP/ours"
check "... over what was there, with the same events" \
	cmp "$TMP/others/events.jsonl" "$TMP/ours/events.jsonl"
check_status 1 "a directory in nothing is an error" poolscope-generate testrun --runs 1 -o "$TMP/no/where"
check_printed "... by its name" "$TMP/no/where: No such file"
cp "$TMP/ours/testruns.jsonl" "$TMP/before"
check_status 1 "a disk that is full is an error" sh -c \
	'ulimit -f 8; trap "" XFSZ; exec poolscope-generate testrun --runs 10000 -o "$1"' x "$TMP/ours"
check_printed "... with the file's name" "ours/testruns.jsonl: File too large"
check "... and leaves what was there" cmp "$TMP/before" "$TMP/ours/testruns.jsonl"
check_text "... and nothing else" "events.jsonl testruns.jsonl" "$(cd "$TMP/ours" && echo *)"
poolscope-generate testrun --runs 2000000 --spacing 1 -o "$TMP/ours" >"$TMP/stopped" 2>&1 &
making=$!
wait_until 'ls "$TMP/ours" | grep -q "jsonl\.[0-9]"'
kill -INT "$making"
wait "$making"
check_text "who is interrupted has failed" 1 "$?"
check "... says so" grep -q "ours: interrupted" "$TMP/stopped"
check_text "... and leaves nothing half done" "events.jsonl testruns.jsonl" "$(cd "$TMP/ours" && echo *)"

# ---- published
check_status 1 "without a broker it gives up" poolscope-generate testrun --runs 1 --timeout 1s -p 'a$b'
check_printed "... and says what to do" "no answer from ipc://$DIR/run/broker.ipc .*poolscope up"
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check "1000 runs are published" poolscope-generate testrun --runs 1000 -p 'farm$made'
check_text "... and counted" "11000 rows, 0 already there" "$(cat "$TMP/out")"
check "... the same is there as in the files" has 'farm$made' "$TMP/theirs"
check "the same again is taken" poolscope-generate testrun --runs 1000 -p 'farm$made'
check_text "... and known" "11000 rows, 11000 already there" "$(cat "$TMP/out")"
check "... and nothing is there twice" has 'farm$made' "$TMP/theirs"
check "a node may be given" poolscope-generate testrun --runs 20 -n lab -p 'farm$lab'
check "... whose they are then" sh -c \
	'poolscope-generate testrun --runs 20 -o "$1"' x "$TMP/twenty"
check "... all of them" has 'farm$lab' "$TMP/twenty" lab
before=$(date +%s)
check "with --base now" env POOLSCOPE_PARTITION='farm$now' poolscope-generate testrun --runs 60 --base now
last=$(dump 'farm$now' --kind event |
	/usr/bin/python3 -c 'import json, sys
print(max(json.loads(line)["time_ns"] for line in sys.stdin) // 10**9)')
check_text "... the last run has ended at most a minute ago" yes \
	"$(if [ "$last" -ge $((before - 61)) ] && [ "$last" -le "$(date +%s)" ]; then echo yes; else echo "$last, at $before"; fi)"
check "-o goes before a partition of the environment" env POOLSCOPE_PARTITION='farm$now' \
	poolscope-generate testrun --runs 20 -o "$TMP/env"
check "... and writes" cmp "$TMP/env/events.jsonl" "$TMP/twenty/events.jsonl"

stop broker
stop aggregator
