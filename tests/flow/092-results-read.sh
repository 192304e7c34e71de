#!/bin/sh
# poolscope-results and poolscope-plot results: what was uploaded is read back,
# in every order and format; a step is found and drawn.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
export POOLSCOPE_PARTITION='lab$bench'
RUNS=48

# ---- wrong usage
wrong_usage "no question is wrong usage" "" poolscope-results
wrong_usage "another question is wrong usage" "'dreams' is not one of tests, starts" poolscope-results dreams
wrong_usage "a question without its test is wrong usage" "missing argument: poolscope-results starts TEST" poolscope-results starts
wrong_usage "so is one with more" "unexpected argument" poolscope-results tests t
wrong_usage "an empty name is wrong usage" "a name is empty" poolscope-results starts ''
wrong_usage "a limit of tests is wrong usage" "--limit is for starts, timings, changes, check, not for tests" \
	poolscope-results tests --limit 3
wrong_usage "a start that is no time is wrong usage" "START: 'noon' is not a time" poolscope-results test t noon
wrong_usage "a start beyond all times is wrong usage" "too many microseconds" \
	poolscope-results test t 99999999999999999999
wrong_usage "a picture of no test is wrong usage" "missing argument: poolscope-plot results TEST" poolscope-plot results
wrong_usage "a picture of a node's results is wrong usage" "--node is for phases, samples" poolscope-plot results t -n n
wrong_usage "another picture has no test" "unexpected argument" poolscope-plot usage t

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

# ---- nothing
check "no tests are no error" poolscope-results tests --format json
check_printed "... and an empty list" '"rows": \[\],'
check_printed "... and say so" 'no results in lab$bench'

# ---- what was uploaded
check "results are made up" poolscope-generate results --files $((2 * RUNS)) --tests 2 --entries 3 \
	--base 2026-09-01T00:00:00Z --spacing 21600 -o "$TMP/made"
cp -a "$TMP/made" "$TMP/data"
mkdir "$TMP/archive"
# Of one name twice, of one start twice, without a number, beyond 64 bits.
cat >"$TMP/data/odd1.json" <<'JSON'
{"name": "odd \u00e9\"", "startTime": "1500000000.25", "entries": {"entry": [
 {"name": "b", "wallTime": "NaN", "iters": 123456789012345678901234567890},
 {"name": "a", "wallTime": 2}, {"name": "b"}, {"name": "a", "wallTime": 1e-9, "x": {"y": [ ]}}]}}
JSON
cat >"$TMP/data/odd2.json" <<'JSON'
{"name": "odd \u00e9\"", "startTime": 1500000000.25, "entries": {}}
JSON
cat >"$TMP/data/odd3.json" <<'JSON'
{"name": "odd one", "startTime": 1600000000, "entries": {"entry": [
 {"name": "none", "wallTime": "soon"}, {"name": "a", "wallTime": 2}, {"name": "b", "wallTime": 3}]}}
JSON
cp "$TMP/data/odd1.json" "$TMP/data/odd2.json" "$TMP/data/odd3.json" "$TMP/made"
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
wait_until indexed 60

# judge WHAT FILE ARGUMENT...: the answer in FILE is that of the files.
cat >"$TMP/judge.py" <<'PY'
import csv, json, os, sys
folder, what, path = sys.argv[1:4]
rest = sys.argv[4:]
runs = []
for name in os.listdir(folder):
    text = open(os.path.join(folder, name), encoding="utf-8").read()
    r = json.loads(text)
    start = round(float(r["startTime"]) * 1000000)
    runs.append((r["name"], start, name, text, r["entries"].get("entry", [])))
got = json.load(open(path))["rows"] if path.endswith("json") else [json.loads(l) for l in open(path)]
got = [{k: v for k, v in r.items() if k != "start"} for r in got if "poolscope" not in r]
if what == "tests":
    wanted = [{"test": t} for t in sorted({r[0] for r in runs}, key=lambda t: t.encode())]
elif what in ("starts", "timings"):
    test, entry, since, limit, oldest = rest[0], rest[1], int(rest[2]), int(rest[3]), rest[4] == "oldest"
    rows = [(r[1], e.get("wallTime", 0)) for r in runs if r[0] == test and r[1] >= since
            for e in (r[4] if what == "timings" else [{"name": entry}]) if e["name"] == entry]
    rows.sort(key=lambda r: r[0] if oldest else -r[0])
    if limit:
        rows = rows[:limit]
    wanted = [{"start_us": s, "timing": t} if what == "timings" else {"start_us": s} for s, t in rows]
    if what == "timings" and test.startswith("odd"):
        key = lambda r: repr(r)
        wanted.sort(key=key)
        got.sort(key=key)
elif what == "entries":
    latest = max((r for r in runs if r[0] == rest[0]), key=lambda r: r[1])
    wanted = [{"entry": e["name"]} for e in latest[4]]
elif what == "test":
    wanted = sorted((r[2], r[3]) for r in runs if r[0] == rest[0] and r[1] == int(rest[1]))
    got = sorted((g["file"], g["info"]) for g in got)
elif what == "entities":
    order = {r[3]: os.stat(os.path.join(folder, r[2])).st_mtime_ns for r in runs}
    seen, files = -1, []
    while got:
        first = got.pop(0)
        assert first["kind"] == "Test", first
        run = [r for r in runs if r[3] == first["info"]]
        assert len(run) == 1 and run[0] not in files
        files.append(run[0])
        assert (first["test"], first["start_us"]) == run[0][:2]
        assert order[first["info"]] >= seen, "not in the order of storing"
        seen = order[first["info"]]
        for e in run[0][4]:
            row = got.pop(0)
            assert row == {"kind": "Entry", "test": run[0][0], "start_us": run[0][1], "entry": e["name"],
                           "timing": e.get("wallTime", 0), "info": json.dumps(e)}, (row, e)
    assert len(files) == len(runs)
    got = wanted = None
assert got == wanted, "wanted %.600r\ngot    %.600r" % (wanted, got)
PY
judge() {
	/usr/bin/python3 "$TMP/judge.py" "$TMP/made" "$@"
}

# asked NAME WHAT JUDGE-ARGUMENTS -- QUESTION...
asked() {
	_asked=$1
	_kind=$2
	_given=
	shift 2
	: >"$TMP/given"
	while [ "$1" != -- ]; do
		printf '%s\n' "$1" >>"$TMP/given"
		shift
	done
	shift
	check "$_asked" poolscope-results "$@" --format json -o "$TMP/answer.json"
	check "... rightly" sh -c 'IFS="
"; exec /usr/bin/python3 "$1/judge.py" "$1/made" "$2" "$1/answer.json" $(cat "$1/given")' x "$TMP" "$_kind"
}

T0=//bench:test_0
odd='odd é"'
since=$((1788220800 + 20 * 21600)) # 2026-09-01
asked "the tests are listed" tests -- tests
asked "the starts of one are listed, the newest first" starts "$T0" x 0 1000 newest -- starts "$T0"
asked "... only the newest few" starts "$T0" x 0 3 newest -- starts "$T0" --limit 3
asked "... only since a time" starts "$T0" x ${since}000000 1000 newest -- starts "$T0" --from $since
asked "... the oldest first since then" starts "$T0" x ${since}000000 5 oldest -- \
	starts "$T0" --from $since --limit 5 --oldest
asked "... all of them from the oldest on" starts "$T0" x 0 0 oldest -- starts "$T0" --limit 0 --oldest
asked "the timings of an entry are listed" timings "$T0" BM_1 0 1000 newest -- timings "$T0" BM_1
asked "... the oldest few" timings "$T0" BM_1 0 7 oldest -- timings "$T0" BM_1 --limit 7 --oldest
asked "timings that are no numbers, or twice in a file, are listed" timings "$odd" b 0 0 newest -- \
	timings "$odd" b --limit 0
asked "the entries of the latest start are listed in the order of its file" entries "$T0" -- entries "$T0"
asked "the result of a start is printed" test "$T0" 1788220800000000 -- test "$T0" 1788220800000000
asked "... by its date, too" test "$T0" 1788220800000000 -- test "$T0" 2026-09-01T00:00:00Z
asked "two of one start are both printed" test "$odd" 1500000000250000 -- test "$odd" 1500000000250000
asked "everything is printed in the order of storing" entities -- entities
poolscope-results entities --format jsonl -o "$TMP/entities.jsonl"
check "... as lines" judge entities "$TMP/entities.jsonl"
check "... and from a store without its aggregator" sh -c 'poolscope-results entities --format jsonl --store "$POOLSCOPE_DIR/store" |
	cmp - "$1"' x "$TMP/entities.jsonl"
check "... and as CSV" sh -c 'poolscope-results entities --format csv | /usr/bin/python3 -c "
import csv, json, sys
rows = list(csv.DictReader(sys.stdin))
lines = [json.loads(l) for l in open(sys.argv[1])][1:-1]
assert len(rows) == len(lines)
for r, l in zip(rows, lines):
    assert r[\"info\"] == l[\"info\"].replace(chr(13), \"\"), (r, l)
    assert r[\"start_us\"] == str(l[\"start_us\"])
" "$1"' x "$TMP/entities.jsonl"
poolscope-results timings "$T0" BM_0 --limit 4 >"$TMP/table"
check_text "a table has a line each, and its titles" 5 "$(wc -l <"$TMP/table")"

# ---- what is not there
check_status 1 "a test that is not there is an error" poolscope-results starts nothing --format json
check_printed "... that says how to find those that are" "no results of test 'nothing'; list the tests with poolscope-results tests"
check_text "... and no answer" "" "$(cat "$TMP/out")"
check_status 1 "so is an entry" poolscope-results timings "$T0" nothing
check_printed "... that says the same" "has no entry 'nothing'; list the entries of its latest start with"
check_status 1 "and a start" poolscope-results test "$T0" 5
check_printed "... that says the same" "has no result of 1970-01-01T00:00:00.000005Z; list its starts with poolscope-results starts"
check_status 1 "and one that no clock shows" poolscope-results test "$T0" 999999999999999999
check_printed "... for which there are no digits" "has no result of that time; list its starts with poolscope-results starts"
check "a time without results is none" poolscope-results starts "$T0" --from 2027-01-01 --format json
check_printed "... but an empty answer" '"rows": \[\],'
check_status 1 "nothing is drawn of what is not there" poolscope-plot results "$T0" nothing -o "$TMP/none"
check_printed "... and the message says why" "has no entry"
check_status 1 "nor of a time without runs" poolscope-plot results "$T0" BM_0 --from 2027-01-01 -o "$TMP/none"
check_printed "... and the message says why" "no timing in this time range"

# ---- pictures
check "each entry is drawn" poolscope-plot results "$T0" -o "$TMP/pictures"
check_text "... as picture, table and script" 9 "$(find "$TMP/pictures" -type f | wc -l)"
check "... with the step where the runs got slower, and no other" /usr/bin/python3 -c '
import glob, sys
for path in glob.glob(sys.argv[1] + "/*.dat"):
    points, levels = [[l.split() for l in part.splitlines() if not l.startswith("#")]
                      for part in open(path).read().split("\n\n\n")]
    assert len(points) == 48 and all(p[6] == "1" for p in points)
    if path.endswith("BM_0.dat"):
        assert len(levels) == 2, levels
        start = (float(levels[1][0]) - 1788220800) / 21600
        assert abs(start - 32) <= 3, start
        assert 9 < float(levels[1][3]) < 16, levels
    else:
        assert len(levels) == 1 and levels[0][3] == "-", levels
' "$TMP/pictures"
check "... and named in the picture" sh -c 'grep -q "1 change" "$1"/*BM_0.plot && grep -q "no change" "$1"/*BM_1.plot' \
	x "$TMP/pictures"
check "a terminal gets letters" poolscope-plot results "$T0" BM_0 --term dumb
check_printed "... with the change" '+1[0-9]\.[0-9] %'
check "... of 80 columns at most" sh -c '! LC_ALL=C.UTF-8 grep -q ".\{81\}" "$1"' x "$TMP/out"
check "one without a number is left out" poolscope-plot results "$odd" b --no-png -o "$TMP/odd"
check_text "... and reported" 1 "$(grep -c "1 without a number" "$TMP"/odd/*.plot)"
check "an entry without any does not end the pictures of the others" \
	poolscope-plot results "odd one" --no-png -o "$TMP/odds"
check_printed "... and is reported" "^warn .*'none' has no timing in this time range"
check_text "... those are drawn" 2 "$(find "$TMP/odds" -name '*.plot' | wc -l)"
check_status 1 "none with anything to draw is an error" \
	poolscope-plot results "odd one" --to 2000-01-01 --no-png -o "$TMP/odds"
check_printed "... that says so" "no entry of the test's latest run has timings"
mkdir "$TMP/many"
check "many runs are made up" poolscope-generate results --files 2000 --entries 1 --seed 7 \
	--base 2025-01-01T00:00:00Z --spacing 7200 -o "$TMP/many"
check "... uploaded" poolscope-upload results -d "$TMP/many" -a "$TMP/archive" --target store -p 'lab$many'
wait_until indexed 60
check "... and drawn" poolscope-plot results "$T0" BM_0 --term svg -p 'lab$many' -o "$TMP/band"
check "... as steps that are those of all runs" /usr/bin/python3 -c '
import glob, json, os, statistics, sys
values = {}
step = 86400.0
for name in os.listdir(sys.argv[2]):
    r = json.load(open(os.path.join(sys.argv[2], name)))
    if "startTime" in r and len(r["entries"].get("entry", [])) == 1:
        values.setdefault(int(r["startTime"]) // step, []).append(r["entries"]["entry"][0]["wallTime"])
rows = [l.split() for l in open(glob.glob(sys.argv[1] + "/*.dat")[0]).read().split("\n\n\n")[0].splitlines()[1:]]
assert 100 < len(rows) <= 240 and sum(int(r[6]) for r in rows) == 2000, len(rows)
for r in rows:
    v = values[float(r[0]) // step]
    close = lambda a, b: abs(float(a) - b) <= 1e-8 * b
    assert close(r[1], statistics.median(v)) and close(r[2], min(v)) and close(r[5], max(v)), r
    assert min(v) <= float(r[3]) * 1.00000001 and float(r[3]) <= float(r[1]) <= float(r[4]), r
' "$TMP/band" "$TMP/archive"

stop broker
stop aggregator
