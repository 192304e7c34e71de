#!/bin/sh
# Reports of three nodes, whose busiest moment was 10 % (n1), 30 % (n2) and 20 % (n3), and which
# read 5, 1 and 3 MiB meanwhile; n4 has no report.  By max: n2, n3, n1, and n4, of which nothing
# is known, at the end.  By read n1 is the first.  The older tool's number of a node (step) stays: n2 is
# the second name.
#
# A farm of five runs: r1, r2 and r3 of phones, r4 of tablets, r5 of nothing known.  They flash
# for 3, 5, 4, 7 and 9 s; r2 flashes twice, another 6 s: 11 s in all.  r3 ended with an error, r6 of tablets
# has not begun to flash.  By flash: r2, r5, r4, r3, r1, r6.  Phones have 3 runs and 1 error, tablets 2 runs.
# r2 has 5 events, r6 has 1, all others 3.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
start broker poolscope-broker || exit 1

# ---- reports of nodes
# reports NODE PERCENT READ: two reports, a second apart.
reports() {
	echo "{\"node\": \"$1\", \"reports\": ["
	for i in 0 1; do
		[ $i = 0 ] || echo ,
		echo "{\"timestamp\": $((BASE + i)).5, \"cpu_pct_per_cpu_avg\": $(($2 * i)), \"cpu_pct_per_cpu_min\": 0.0,
			\"cpu_pct_per_cpu_max\": 99.5, \"mem_percent\": 7.5, \"disk_usage_percent\": 2,
			\"disk_io_read_mb\": $(($3 * i)), \"disk_io_write_mb\": 4, \"net_io_lo_sent_mb\": 5,
			\"net_io_ext_sent_mb\": 6, \"net_io_lo_recv_mb\": 7, \"net_io_ext_recv_mb\": 8}"
	done
	echo "]}"
}
{
	echo '{"nodes":['
	reports n1 10 5
	echo ,
	reports n2 30 1
	echo ,
	reports n3 20 3
	echo ',{"node": "n4", "reports": []}]}'
} >"$TMP/reports"
check "reports are imported" poolscope-import perf -p "$PARTITION" "$TMP/reports"
wait_until indexed 30
answer "the busiest two" "n2,1
n3,2" columns node,step poolscope-stats perf -q --sort 'max_t_(cpu_pct_per_cpu_avg)' --top 2 --format csv
answer "a node without a report is the last" "n2
n3
n1
n4" columns node poolscope-stats perf -q --sort 'max_t_(cpu_pct_per_cpu_avg)' --format csv
answer "who read most" "n1" columns node poolscope-stats perf -q --sort total_disk_io_read_mb --top 1 --format csv
check "as JSON" poolscope-stats perf -q --sort 'max_t_(cpu_pct_per_cpu_avg)' --top 1 --cpu-count 1 --format json
check_text "... the same node" 1 "$(/usr/bin/python3 -c 'import json, sys
print(*(row["step"] for row in json.load(open(sys.argv[1]))["rows"]))' "$TMP/out")"
check "as a table" poolscope-stats perf -q --sort total_disk_io_read_mb --cpu-count 1
check_text "... the same order" "n1 n3 n2 n4 " "$(awk '$1 ~ /^n[1-4]$/ { printf "%s ", $1 }' "$TMP/out")"
wrong_usage "a column that reports do not have" "'step2' is not one of node, step, reports.*did you mean step" \
	poolscope-stats perf --sort step2

# ---- a job
check "a job is imported" poolscope-import scanner -p "$PARTITION" --job 0 "$ROOT/tests/golden/scanner/s01_one_worker/db"
wait_until indexed 30
poolscope-stats scanner --job 0 --format csv >"$TMP/all.csv"
for column in count seconds value name; do
	check "its rows by $column" poolscope-stats scanner --job 0 --format csv --sort $column --top 7 -o "$TMP/some.csv"
	check "... rightly" /usr/bin/python3 -c 'import csv, sys
column = sys.argv[3]
def key(row):
    cell = row[column]
    return cell if column == "name" else (cell == "", -float(cell or 0))
every, shown = (list(csv.DictReader(open(name))) for name in sys.argv[1:3])
assert len(every) > 7 and shown == sorted(every, key=key)[:7], shown' "$TMP/all.csv" "$TMP/some.csv" $column
done
check "its table" poolscope-stats scanner --job 0 --sort seconds --top 3
check_text "... has three rows" 3 "$(sed '1,/^NODE/d; /^$/,$d' "$TMP/out" | grep -c .)"
check "... and as JSON" poolscope-stats scanner --job 0 --sort seconds --top 3 --format json
check_text "... has them, too" 3 "$(/usr/bin/python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["rows"]))' "$TMP/out")"

# ---- test runs
{
	echo "entity n1 run r1 device_group=phones requestor=ann"
	echo "entity n1 run r2 device_group=phones requestor=bob"
	echo "entity n1 run r3 device_group=phones requestor=ann error=lost"
	echo "entity n1 run r4 device_group=tablets requestor=bob"
	echo "entity n1 run r6 device_group=tablets requestor=bob"
	flash_run 100 3 r1
	flash_run 200 5 r2
	echo "event 210 n1 run:flash_start run=r2"
	echo "event 216 n1 run:flash_end run=r2"
	flash_run 300 4 r3
	flash_run 400 7 r4
	flash_run 500 9 r5
	echo "event 600 n1 run:queue_end run=r6"
} | records
deltas() {
	columns run,step.flash poolscope-stats runs --format csv "$@"
}
answer "the slowest two runs, with each of their flashes" "r2,11
r5,9" deltas --sort step.flash --top 2
answer "... the slowest flash" "r5,9" columns run,step.flash poolscope-stats deltas --format csv --sort step.flash --top 1
answer "... by name" "r1,3" deltas --sort run --top 1
answer "... of those that are named" "r4,7
r1,3" deltas --sort step.flash --run r1 --run r4
check "as a table" poolscope-stats runs --sort step.flash
check_text "... a run without the step is the last" "r2 r5 r4 r3 r1 r6 " \
	"$(awk '$1 ~ /^r[1-6]$/ { printf "%s ", $1 }' "$TMP/out")"
check "in a window" poolscope-stats runs --sort step.flash --top 1 --to "$(at 200)"
check_printed "... the only one" '^r1 '
check "the first two as they come" poolscope-stats runs --top 2
check_text "... two" "r1 r2 " "$(awk '$1 ~ /^r[1-6]$/ { printf "%s ", $1 }' "$TMP/out")"
wrong_usage "a column that is none" "--sort: 'flsh' is not one of run, group" poolscope-stats runs --sort flsh
check_status 1 "a step that the model does not have" poolscope-stats runs --sort step.flsh
check_printed "... is reported" "--sort: the answer has no column 'step.flsh'"
check "the most events first" poolscope-stats runs --sort events
check_text "... in order" "r2 r1 r3 r4 r5 r6 " "$(awk '$1 ~ /^r[1-6]$/ { printf "%s ", $1 }' "$TMP/out")"
answer "what happened most" "r2,flash_start,2
r2,flash_end,2" columns run,event,count poolscope-stats iterations --format csv --sort count --top 2
# groups ARGUMENT...: their names and runs.
groups() {
	columns group,runs poolscope-stats groups --format csv "$@"
}
answer "groups, the most runs first" "phones,3
tablets,2
,1" groups --sort runs
answer "... the fewest of all by name" "tablets,2" groups --sort group --top 1 --group 't*'
answer "... in a window" "phones,3" groups --sort errors --top 1 --from 1970-01-01
check "as a table" poolscope-stats groups --sort error_pct_of_all --top 1
check_text "... a row" "phones 3" "$(sed -n '4{s/  */ /g; s/ [0-9]* [0-9]* [0-9]* [0-9]* [0-9.]* [0-9.]*$//p}' "$TMP/out")"
check_printed "... after the heading" '^groups of runs of '
wrong_usage "a column that groups do not have" "not one of group, known, runs, queued.*did you mean errors" \
	poolscope-stats groups --sort error
stop broker
stop aggregator
