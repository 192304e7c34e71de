#!/bin/sh
# The events.h5 of a farm's older monitor, written by PyTables as that wrote it, becomes what
# import reads: runs, durations and numbers are those of the recorded farm.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
need_python tables tables || skip "pip cannot have PyTables"
PYTHON=$PARTS/tables/bin/python
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
case=$ROOT/tests/golden/testrun/m03_irregular_60

# A table for each device group, as /device_group_1/events; runs of no group at the top.
program write.py <<'PY'
import json
import sys

import tables

case, path = sys.argv[1:]


class Event(tables.IsDescription):
    testrun_id = tables.StringCol(64, pos=0)
    ev_name = tables.StringCol(32, pos=1)
    emit = tables.Float64Col(pos=2)
    received = tables.Float64Col(pos=3)


groups = {run["testrun_id"]: run["device_group"] for run in map(json.loads, open(case + "/testruns.jsonl"))}
with tables.open_file(path, "w") as file:
    made = {}
    for event in map(json.loads, open(case + "/events.jsonl")):
        group = groups.get(event["testrun_id"])
        if group not in made:
            parent = file.root if group is None else file.create_group("/", group)
            made[group] = file.create_table(parent, "events", Event)
        received = event["event_receive"]
        made[group].append([(event["testrun_id"], event["event_name"], event["event_emit"],
                             float("nan") if received is None else received)])
    other = file.create_table("/", "other", Event)
PY
check "PyTables writes the file" py "$TMP/write.py" "$case" "$TMP/events.h5"
count=$(wc -l <"$case/events.jsonl")
check "it is converted" py -m poolscope.h5 "$TMP/events.h5" "$TMP/converted"
check_text "... and says so" "$count events" "$(cat "$TMP/out")"
py -m poolscope.h5 "$TMP/events.h5" >"$TMP/printed.jsonl"
check "... or printed" cmp "$TMP/printed.jsonl" "$TMP/converted/events.jsonl"
check "every event is there once, every run has its group" /usr/bin/python3 -c 'import collections, json, sys
def lines(folder, name):
    return [json.loads(line) for line in open(folder + "/" + name)]
def counted(events):
    return collections.Counter(tuple(e[k] for k in ("testrun_id", "event_name", "event_emit", "event_receive")) for e in events)
case, farm = sys.argv[1:]
assert counted(lines(case, "events.jsonl")) == counted(lines(farm, "events.jsonl"))
ran = {e["testrun_id"] for e in lines(case, "events.jsonl")}
want = {r["testrun_id"]: r["device_group"] for r in lines(case, "testruns.jsonl") if r["testrun_id"] in ran}
got = {r["testrun_id"]: r["device_group"] for r in lines(farm, "testruns.jsonl")}
assert got == want and len(set(got.values())) > 1, (got, want)' "$case" "$TMP/converted"

# What that file does not have, who asked for a run and how it failed, is in another one.
mkdir "$TMP/runs"
cp "$case/testruns.jsonl" "$TMP/runs"
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check "the farm is imported" poolscope-import -p 'farm$h5' testrun "$TMP/converted" "$TMP/runs"
check "... and so is the recorded one" poolscope-import -p 'farm$recorded' testrun "$case"
wait_until indexed 60 || fail "... and indexed"
# judged WHAT EXPECTED [CASE]: the answer to stats WHAT, in $TMP/WHAT.
judged() {
	_what=$1
	_expected=$case/expected/$2.json
	shift 2
	check "$_what: as recorded" /usr/bin/python3 "$ROOT/tests/golden/testrun/testrun.py" \
		"$_what" "$_expected" "$TMP/$_what" "$@"
}
check "deltas are answered" poolscope-stats deltas --time receive -p 'farm$h5' --format json -o "$TMP/deltas"
judged deltas run_deltas
check "iterations, too" poolscope-stats iterations -p 'farm$h5' --format json -o "$TMP/iterations"
judged iterations iterations
check "and groups" poolscope-stats groups --time receive -p 'farm$h5' --format json -o "$TMP/groups"
judged groups groups "$case"
# The same runs, whatever order they came in.
runs_of() {
	poolscope-stats runs -p "$1" --format csv | tr -d '\r' | sort
}
check "runs: as many as there are" test "$(runs_of 'farm$recorded' | wc -l)" -gt 60
check_text "... with the same state and times" "$(runs_of 'farm$recorded')" "$(runs_of 'farm$h5')"

# ---- what is no such file
echo x >"$TMP/bad.h5"
check_status 1 "another file is refused" py -m poolscope.h5 "$TMP/bad.h5"
check_text "... in a line" "poolscope.h5: $TMP/bad.h5: it is no file of HDF5" "$(cat "$TMP/err")"
check_status 1 "one that is not there" py -m poolscope.h5 "$TMP/none.h5"
check_text "... in a line" "poolscope.h5: $TMP/none.h5: No such file or directory" "$(cat "$TMP/err")"
check_status 1 "one without such a table" py -c 'import sys, tables
tables.open_file(sys.argv[1], "w").close()
from poolscope import h5
sys.exit(h5._main(sys.argv[1:]))' "$TMP/empty.h5"
check_printed "... says so" "it has no table events"
check_status 1 "one with other columns" py -c 'import sys, tables
with tables.open_file(sys.argv[1], "w") as file:
    file.create_table("/", "events", {"testrun_id": tables.Int64Col(), "emit": tables.Int64Col()})
from poolscope import h5
sys.exit(h5._main(sys.argv[1:]))' "$TMP/other.h5"
check_printed "... says which is lacking" "/events has no column ev_name"
check_status 2 "no file is wrong usage" py -m poolscope.h5
PYTHON=/usr/bin/python3
if ! "$PYTHON" -c 'import tables' 2>/dev/null; then
	check_status 1 "without PyTables" py -m poolscope.h5 "$TMP/events.h5"
	check_text "... it says what is lacking" "poolscope.h5: PyTables is not installed here: pip install tables" "$(cat "$TMP/err")"
fi
