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
wrong_usage "other data are wrong usage" "'dreams' is not one of pool, testrun, results" poolscope-generate dreams --runs 1 -o "$TMP/x"
wrong_usage "no number is wrong usage" "--runs" poolscope-generate testrun -o "$TMP/x"
wrong_usage "the number of another kind is wrong usage" "--files is for results, not for testrun" \
	poolscope-generate testrun --runs 1 --files 1 -o "$TMP/x"
wrong_usage "results are written, not published" "--partition is for pool, testrun, not for results" \
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
wrong_usage "a pool has nodes" "--nodes is missing" poolscope-generate pool -o "$TMP/x"
wrong_usage "... not too many" "--nodes must be at most 100000" poolscope-generate pool --nodes 100001 -o "$TMP/x"
wrong_usage "... and starts" "--starts must be greater than 0" poolscope-generate pool --nodes 1 --starts 0 -o "$TMP/x"
wrong_usage "... samples have a period" "--period must be from 1s to 900s" poolscope-generate pool --nodes 1 --period 1ms -o "$TMP/x"
wrong_usage "... within the calendar" "2 starts are not all between the years 1900 and 2200" \
	poolscope-generate pool --nodes 1 --starts 2 --base 2199-12-31T23:30:00Z -o "$TMP/x"
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
check_text "who is interrupted has not failed by itself" 130 "$?"
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

# ---- a pool
# 40 nodes, two starts at 10:00 and 10:30 of 15 minutes, samples every 30 s.
poolscope-generate pool --nodes 40 --starts 2 --period 30s --base 2026-11-20T10:00:00Z -o "$TMP/pool"
poolscope-generate pool --nodes 40 --starts 2 --period 30s --base 2026-11-20T10:00:00Z -o "$TMP/pool2"
check "a pool is the same for the same options" cmp "$TMP/pool/records.jsonl" "$TMP/pool2/records.jsonl"
check "its numbers are as the manual says" /usr/bin/python3 -c '
import collections, json, sys
begin = 1795168800 * 10**9
rows = [json.loads(line) for line in open(sys.argv[1])]
assert {row["node"] for row in rows} == {"cn%03d" % i for i in range(1, 41)}
events = [row for row in rows if row["kind"] == "event"]
gone = max(row["time_ns"] for row in rows if row["node"] == "cn031" and row["kind"] == "sample")
assert begin + 2369 * 10**9 < gone < begin + 2400 * 10**9, gone
seen = collections.defaultdict(dict)
for row in events:
    start = (row["time_ns"] - begin) // (1800 * 10**9)
    assert 0 <= row["time_ns"] - begin - start * 1800 * 10**9 <= 900 * 10**9
    key = row["source"], row["name"], row["attributes"].get("img") or row["attributes"].get("job")
    assert key not in seen[row["node"], start]
    seen[row["node"], start][key] = row["time_ns"]
large = "gcr.io/ml/train:2.1"
for (node, start), of in seen.items():
    number = int(node[2:]) - 1
    assert (("cascade", "pull-end", large) in of) == (number % 5 == 0 or number == 20), node
    assert (("cascade", "gr-done", None) in of) == ((node, start) != ("cn012", 1)), node
    assert (("job", "stop", "1001") in of) == (start == 0), node
pulls = {n: of["cascade", "pull-end", large] - of["cascade", "pull-start", large]
         for (n, start), of in seen.items() if start == 1 and ("cascade", "pull-end", large) in of}
slow = pulls.pop("cn021")
assert slow > 3 * max(pulls.values()) and len(pulls) == 7
last = {}
for row in rows:
    if row["kind"] == "sample" and row["set"] == "cpu":
        boot, user, nice, system, idle = row["values"][:5]
        if (row["node"], boot) in last:
            assert user + system + idle - last[row["node"], boot] == 30 * 100 * 16
        last[row["node"], boot] = user + system + idle
assert len(last) == 80
' "$TMP/pool/records.jsonl"
check "it is published" poolscope-generate pool --nodes 40 --starts 2 --period 30s --base 2026-11-20T10:00:00Z -p 'demo$pool'
check_text "... once" "$(grep -vc '"kind": "entity"' "$TMP/pool/records.jsonl") rows, 0 already there" "$(cat "$TMP/out")"
check "... and again" poolscope-generate pool --nodes 40 --starts 2 --period 30s --base 2026-11-20T10:00:00Z -p 'demo$pool'
check "... which adds nothing" sh -c 'set -- $(cat "$TMP/out"); test "$1" = "$3"'
check "its file is imported" poolscope-import records "$TMP/pool/records.jsonl"
slowest() {
	poolscope-stats phases -p "$1" --start all --name 'cascade:pull' --by node --sort max --top 1 --columns node,count --format csv 2>"$TMP/err"
}
check "the slow node is found by its name" wait_until 'slowest "demo\$pool" | grep -qx cn021,4'
check "... in both" wait_until 'slowest "generated\$pool" | grep -qx cn021,4'
for pool in 'demo$pool' 'generated$pool'; do
	poolscope-dump -p "$pool" --format jsonl 2>"$TMP/err" | /usr/bin/python3 -c '
import json, sys
for row in sorted(json.dumps([row.get(k) for k in ("kind", "node", "time_ns", "source", "name", "set", "id", "attributes", "values")])
                  for row in map(json.loads, sys.stdin)):
    print(row)' >"$TMP/of.$pool"
done
check "both ways store the same" cmp "$TMP/of.demo\$pool" "$TMP/of.generated\$pool"
check "... something" test -s "$TMP/of.demo\$pool"

stop broker
stop aggregator
