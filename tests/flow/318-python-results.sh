#!/bin/sh
# Results of benchmarks in Python: the five questions answer what the older store answered
# for the recorded files of tests/golden/testbench.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
case=$ROOT/tests/golden/testbench/b01_three_files
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
cp "$case"/data/* "$TMP/data"
# Two entries of one name, one timing without a number.
cat >"$TMP/data/odd.json" <<'END'
{"name": "odd \u00e9", "startTime": "1500000000.25", "entries": {"entry": [
 {"name": "b", "wallTime": "NaN"}, {"name": "a", "wallTime": 2}, {"name": "b", "wallTime": 0.5}]}}
END
cp "$TMP/data/odd.json" "$TMP/odd.json"
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store -p 'bench$a'
wait_until indexed 60 || fail "... and indexed"

cat >"$TMP/ask.py" <<'END'
import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone

from poolscope import Store, StoreError
from poolscope.results import Results

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
results = Results("bench$a")


def of(us):
    return EPOCH + timedelta(microseconds=us)


def same(got, want):
    assert got == want, (got, want)
    return 1


asked = 0
for q in json.load(open(sys.argv[1])):
    test, kind = q.get("test"), q["q"]
    since = of(q.get("since_us", 0))
    if kind == "tests":
        asked += same(results.tests(), [row["test"] for row in q["answer"]] + ["odd é"])
    elif kind == "recent_starts":
        chosen = {"since": since, "limit": q["limit"]}
        asked += same(results.recent_starts(test, oldest=True, **chosen), [of(r["start_us"]) for r in q["answer"]])
        newest = sorted((of(r["start_us"]) for r in q.get("newest_first", q["answer"])), reverse=True)
        same(results.recent_starts(test, **chosen), newest)
    elif kind == "recent_timings":
        chosen = {"since": since, "limit": q["limit"]}
        want = [(of(r["start_us"]), r["timing"]) for r in q["answer"]]
        asked += same(results.recent_timings(test, q["entry"], oldest=True, **chosen), want)
        newest = sorted(((of(r["start_us"]), r["timing"]) for r in q["newest_first"]), reverse=True)
        same(results.recent_timings(test, q["entry"], **chosen), newest)
    elif kind == "entries_of_latest":
        asked += same(results.entries_of_latest(test), [row["entry"] for row in q["answer"]])
    elif kind == "test_record":
        for start in q["start_us"], of(q["start_us"]), of(q["start_us"]).replace(tzinfo=None):
            got = results.test_record(test, start)
            same([(r["test"], r["start"], hashlib.sha256(r["info"].encode()).hexdigest()) for r in got],
                 [(r["test"], of(r["start_us"]), r["info_sha256"]) for r in q["answer"]])
        asked += 1
assert asked == 10, asked

odd = of(1500000000250000)
same(results.recent_timings("odd é", "b"), [(odd, "NaN"), (odd, 0.5)])
same(results.recent_starts("odd é", since="2017-07-15"), [])
same(results.entries_of_latest("odd é"), ["b", "a", "b"])
same(results.test_record("odd é", odd)[0]["info"], open(sys.argv[2]).read())
same(results.test_record("odd é", odd + timedelta(seconds=1)), [])
same(Results("bench$none").tests(), [])
for wrong in lambda: Results("bench$a", Store("/nonexistent")).tests(), lambda: results.recent_starts("", limit=1):
    try:
        wrong()
    except StoreError:
        continue
    raise SystemExit("not refused")
END
check "the five questions, as recorded" env TZ=UTC "LD_PRELOAD=$PRELOAD" "$PYTHON" -W error "$TMP/ask.py" "$case/expected/queries.json" "$TMP/odd.json"
