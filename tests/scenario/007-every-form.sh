#!/bin/sh
# Every form of an answer says the same.
#
# One node boots twice: from 0 to 40 s, and from 100 to 112.5 s.
#   count 2, least 12.5, greatest 40, mean (12.5 + 40) / 2 = 26.25
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model farm <<-'END'
	phase "boot" {
		start = "farm:boot"
		end = "farm:up"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event     0 n1 farm:boot
	event    40 n1 farm:up
	event   100 n1 farm:boot
	event 112.5 n1 farm:up
END

answer "CSV" "2,12.5,40.0,26.25" columns count,min,max,mean poolscope-stats phases --format csv
for each in count=2 min=12.5 max=40.0 mean=26.25; do
	answer "JSON: ${each%=*}" "${each#*=}" field "rows/0/${each%=*}" \
		poolscope-stats phases --format json
done
check "the table is printed" poolscope-stats phases
check_text "... with count, least, greatest and mean" "2 12.50 40.00 26.25" \
	"$(awk '/boot/ { for (i = 1; i <= NF; i++) if ($i == "farm:boot" || $i == "boot") {
		print $(i + 1), $(i + 2), $(i + 3), $(i + 4); exit } }' "$TMP/out")"

# lengths FORMAT: of the rows of dump, in seconds.
lengths() {
	poolscope-dump --kind phase --format "$1" | /usr/bin/python3 -c 'import csv, json, sys
rows = csv.DictReader(sys.stdin) if sys.argv[1] == "csv" else map(json.loads, sys.stdin)
begin = "time_ns" if sys.argv[1] == "csv" else "begin_ns"
for row in rows: print((int(row["end_ns"]) - int(row[begin])) / 1e9)' "$1"
}
for format in csv jsonl; do
	answer "dump as $format" "40.0
12.5" lengths "$format"
done

# slices FILE: begin and length of each slice of a trace, in milliseconds.
slices() {
	/usr/bin/python3 -c 'import json, sys
trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
begin = min(e["ts"] for e in events if e["ph"] == "X")
for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
    print("%g %g" % ((e["ts"] - begin) / 1000, e["dur"] / 1000))' "$1"
}
check "a trace is written" poolscope-trace -o "$TMP/t.json"
answer "its slices have the same lengths" "0 40000
100000 12500" slices "$TMP/t.json"
