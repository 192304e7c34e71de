#!/bin/sh
# Reports of hosts: what poolscope-stats perf makes of them, and of what there
# is none of.  The recorded numbers are tests/golden/perf.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# reports NODE COUNT: a node of a file, whose CPU average and totals are 1, 2 ...
reports() {
	awk -v node="$1" -v count="$2" 'BEGIN {
		printf "{\"node\":\"%s\",\"reports\":[", node
		for (i = 1; i <= count; i++)
			printf "%s{\"timestamp\":%d.5,\"cpu_pct_per_cpu_avg\":%d,\"cpu_pct_per_cpu_min\":0.0,\"cpu_pct_per_cpu_max\":99.5,\"mem_percent\":7.5,\"disk_usage_percent\":2,\"disk_io_read_mb\":%d,\"disk_io_write_mb\":4,\"net_io_lo_sent_mb\":5,\"net_io_ext_sent_mb\":6,\"net_io_lo_recv_mb\":7,\"net_io_ext_recv_mb\":8}\n",
				(i > 1 ? "," : ""), 1650000000 + i, i, i
		print "]}"
	}'
}

# numbers KEY: of all nodes, from what was printed last.
numbers() {
	/usr/bin/python3 -c 'import json, sys
print(*("%s:%s" % (row["step"], row[sys.argv[2]]) for row in json.load(open(sys.argv[1]))["rows"] if row["reports"]))' "$TMP/out" "$1"
}

perf() {
	poolscope-stats perf --format json -p 'acct$perf' "$@"
}

# ---- wrong usage is one line and 2
wrong_usage "a length of 1 has no room for both ends" "at least 2" poolscope-stats perf --format json -p 'a$b' --max-length 1
wrong_usage "a length beyond all measure is wrong usage" "at most 10000000" poolscope-stats perf --format json -p 'a$b' --max-length 99999999
wrong_usage "no CPUs are wrong usage" "from 1 to" poolscope-stats perf --format json -p 'a$b' --cpu-count 0
wrong_usage "phases know no --decimate" "decimate is for perf, reports" poolscope-stats phases -p 'a$b' --decimate minmax
wrong_usage "a scanner job knows no --from" "from is for" poolscope-stats scanner -p 'a$b' --job 1 --from -1h
wrong_usage "perf knows no --by" "by is for compare, phases, runs, samples, slow, spans, not for perf" poolscope-stats perf --format json -p 'a$b' --by node

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" && start broker poolscope-broker || exit 1
check_status 1 "an unknown partition is an error" perf
check_printed "... with its name" 'no reports of partition acct$perf in '

{
	echo '{"nodes":['
	for node in b a; do
		reports "$node" 300
		echo ,
	done
	reports c 0
	echo ']}'
} >"$TMP/reports"
check "reports are imported" poolscope-import perf -p 'acct$perf' "$TMP/reports"
wait_until 'test "$(poolscope-dump -q -p "acct\$perf" --kind sample | wc -l)" = 600'

# ---- numbers
check "two nodes have numbers, one has no reports" perf --cpu-count 12
check_printed "... and is named" "node c has no reports"
check_text "... steps follow the names" "0:300.0 1:300.0" "$(numbers 'max_t_(cpu_pct_per_cpu_avg)')"
check_text "... totals are growth" "0:299.0 1:299.0" "$(numbers total_disk_io_read_mb)"
check_text "... hours end with the last report" 0:0.9966 "$(numbers node_cpu_hours | cut -c 1-8)"
check "totals since boot are the greatest" perf --since-boot
check_text "... of the reports" "0:300.0 1:300.0" "$(numbers total_disk_io_read_mb)"
check_printed "without a count of CPUs it says so" "2 nodes do not report a number of CPUs"
check_text "... and knows no hours" "0:None 1:None" "$(numbers node_cpu_hours)"
check "reports of some time are selected" perf -q --from 1650000101 --to 1650000201
check_text "... and only they count" "0:200.0 1:200.0" "$(numbers 'max_t_(cpu_pct_per_cpu_avg)')"
check "a node is selected" perf -q --node b --cpu-count 1
check_text "... and is alone" 0:300.0 "$(numbers 'max_t_(cpu_pct_per_cpu_avg)')"
check_status 1 "an unknown node is an error" perf --node nobody
check_status 1 "so is one without reports" perf --node c
check_printed "... and is named, too" "node c has no reports"
check_status 1 "--strict wants reports of all" perf --strict -o "$TMP/strict"
check_printed "... and counts" "1 of 3 nodes have no reports"
check "... and writes nothing" test ! -e "$TMP/strict"
check "names for MLflow have no brackets" perf -q --mlflow-names --prefix 'my run: '
check_text "... and a prefix" "0:7.5 1:7.5" "$(/usr/bin/python3 -c 'import json, sys
print(*("%d:%s" % (row["step"], row["value"]) for row in json.load(open(sys.argv[1]))["mlflow"] if row["name"] == "my run max_t_mem_percent"))' "$TMP/out")"
check "the table has every node" perf -q --format table --cpu-count 1
check_text "... in their order" "a b c" "$(awk '$1 ~ /^[abc]$/ { print $1 }' "$TMP/out" | xargs)"
check "CSV has a row a node" perf -q --format csv -o "$TMP/csv"
check_text "... and a header" 4 "$(wc -l <"$TMP/csv")"

# ---- lists
listed() {
	poolscope-stats reports -q --format jsonl -p 'acct$perf' "$@"
}
rows_there() {
	grep -vc '^{"poolscope"' "$TMP/out"
}
check "reports are listed" listed
check_text "... all" 600 "$(rows_there)"
check_printed "... and that a node has none" "node c has no reports"
check "fewer reports are listed" listed --max-length 10
check_text "... of each node" 20 "$(rows_there)"
check_text "... with the last one" 2 "$(grep -c '"cpu_pct_per_cpu_avg": 300,' "$TMP/out")"
check "the busiest first" listed --sort cpu_pct_per_cpu_avg --top 2
check_text "... of each node the last" 2 "$(grep -c '"cpu_pct_per_cpu_avg": 300,' "$TMP/out")"
check "reports are saved" perf -q --save "$TMP/saved" --max-length 10 -o "$TMP/out2"
check_text "... with the node that has none" "10 10 0" "$(/usr/bin/python3 -c 'import json, sys
print(*(len(v) for v in json.load(open(sys.argv[1])).values()))' "$TMP/saved")"
check "the older sampler's numbers are those of its store" perf -q --decimate reference --max-length 10
check_text "... which lacks the end" "0:288.0 1:288.0" "$(numbers 'max_t_(cpu_pct_per_cpu_avg)')"

# ---- of a job
start agent poolscope-agent --no-samples -p 'acct$perf' || exit 1
# job_event WHAT SECOND NODE
job_event() {
	check "job 7 $1s on $3" poolscope-emit job "$1" --attr job=7 --node "$3" --ts "$2" --wait stored
}
job_event start 1650000101 a
job_event stop 1650000201 a
job_event start 1650000101 c
wait_until 'perf -q --job 7'
check "reports of a job are selected" perf --job 7 --cpu-count 36
check_text "... where and while it ran" 0:200.0 "$(numbers 'max_t_(cpu_pct_per_cpu_avg)')"
check_text "... totals are growth in its time" 0:99.0 "$(numbers total_disk_io_read_mb)"
check_text "... and so are CPU hours" 0:0.99 "$(numbers node_cpu_hours)"
check_printed "... its node without reports is named" "node c has no reports"
check "reports of a job are listed" listed --job 7
check_text "... alone" 100 "$(rows_there)"
check_status 1 "a job that never ran is an error" perf --job 8
check_printed "... with its name" "no job '8'"
stop agent

# ---- from the store alone
stop broker
stop aggregator
check "without an aggregator the store answers" perf -q
check_text "... the same" "0:299.0 1:299.0" "$(numbers total_disk_io_read_mb)"
