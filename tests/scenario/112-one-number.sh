#!/bin/sh
# One number, in every form and from every place; 460-every-number.sh has the other numbers.
#
# A farm's run flashes for 12.5 s; its node has one processor, which worked for half an hour
# of an hour: 0.5 CPU hours used, 0.5 unused.  The flash is 12.5 s in the table, JSON and CSV
# of the durations, in the statistics of its group, in the picture's data, in the dump and in the trace,
# where it is 12,500,000 us; the use is 0.5 in table, JSON, CSV and in the picture's data.
# So it is asked of the aggregator, read from its store, compacted, derived again, and
# restored from a backup.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 - <<'END' | records
print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
      " system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
for t in range(0, 3601, 10):
    print("sample", t, "n1 cpu 7", 100 * min(t, 1800), 100 * max(t - 1800, 0), 1)
print("entity n1 run r1 device_group=phones")
print("event 100 n1 run:flash_start run=r1")
print("event 112.5 n1 run:flash_end run=r1")
END

# flash OPTION...: the number in each form.
flash() {
	rm -rf "$TMP/drawn"
	poolscope-stats deltas "$@" | awk '$1 == "r1" { print "table", $6 }' || return
	poolscope-stats deltas --format json "$@" >"$TMP/deltas.json" || return
	echo "CSV $(columns step.flash poolscope-stats deltas --format csv "$@")"
	echo "runs $(columns step.flash poolscope-stats runs --format csv "$@")"
	poolscope-stats groups --format json "$@" >"$TMP/groups.json" || return
	poolscope-plot testrun --no-png -q -o "$TMP/drawn" "$@" || return
	awk '$2 == "r1" { print "picture", $6 }' "$TMP"/drawn/*-0001.dat
	poolscope-dump --kind phase --name testrun:flash "$@" >"$TMP/phases.jsonl" || return
	poolscope-trace -q -o "$TMP/trace.json" "$@" || return
	/usr/bin/python3 - "$TMP" <<-'END'
		import json, sys
		def read(name):
		    return json.load(open(sys.argv[1] + "/" + name))
		print("JSON", *(row["step.flash"] for row in read("deltas.json")["rows"]))
		of = {row["of"]: row for row in read("groups.json")["steps"]
		      if (row["phase"], row["time"]) == ("flash", "event_emit")}
		print("groups", of["per_iteration"]["mean"], of["per_run_total"]["p50"])
		phase = read("phases.jsonl")
		print("dump", (phase["end_ns"] - phase["begin_ns"]) / 1e9)
		trace = read("trace.json")
		trace = trace["traceEvents"] if isinstance(trace, dict) else trace
		print("trace", *(e["dur"] / 1e6 for e in trace if e.get("ph") == "X" and "flash" in e["name"]))
	END
}
FLASH="table 12.50
CSV 12.5
runs 12.5
picture 12.5
JSON 12.5
groups 12.5 12.5
dump 12.5
trace 12.5"

# use OPTION...: hours of processors, used and unused.
use() {
	rm -rf "$TMP/use"
	poolscope-stats usage "$@" | awk '$1 == "n1" { print "table", $2, $3 }'
	poolscope-stats usage --format csv "$@" >"$TMP/use.csv" || return
	poolscope-stats usage --format json "$@" >"$TMP/use.json" || return
	poolscope-plot usage --no-png -q -o "$TMP/use" "$@" || return
	# Idle hours are unused ones, and have a colour of their own.
	awk '$3 == "n1" { print "picture", $4 + 0, $5 + $6 }' "$TMP"/use/*.dat
	/usr/bin/python3 - "$TMP/use" <<-'END'
		import csv, json, sys
		row, = csv.DictReader(open(sys.argv[1] + ".csv"))
		node, = json.load(open(sys.argv[1] + ".json"))["rows"]
		for name, of in ("CSV", row), ("JSON", node):
		    print(name, *("%.12g" % float(of["cpu_hours_" + what]) for what in ("used", "unused")))
	END
}
USE="table 0.50 0.50
picture 0.5 0.5
CSV 0.5 0.5
JSON 0.5 0.5"

# agree WHERE OPTION...
agree() {
	_place=$1
	shift
	answer "the flash, $_place" "$FLASH" flash "$@"
	answer "the use, $_place" "$USE" use "$@"
}
agree "asked of the aggregator" --connect "ipc://$DIR/run/reader.ipc"
agree "read from its store" --store "$DIR/store"
check "a backup is made" poolscope-admin backup "$TMP/backup"
stop aggregator
check "all is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
agree "compacted" --store "$DIR/store"
check "runs are derived again" poolscope-admin rebuild --models "$ROOT/deploy/models"
agree "derived again" --store "$DIR/store"
check "the backup is installed" poolscope-admin restore "$TMP/backup" --set-aside
agree "restored" --store "$DIR/store"
aggregate --models "$ROOT/deploy/models"
agree "asked of an aggregator on the restored store" --connect "ipc://$DIR/run/reader.ipc"
