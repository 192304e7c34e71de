#!/bin/sh
# poolscope-import: rows of older tools through broker and aggregator, once,
# whatever is bad about the file and whoever dies meanwhile.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# rows FILE NODES EVENTS [PARTITIONS]: a file of the event table.
rows() {
	awk -v nodes="$2" -v events="$3" -v partitions="${4:-1}" 'BEGIN {
		for (e = 0; e < events; e++)
			for (n = 0; n < nodes; n++)
				printf "{\"PartitionKey\":\"acct$pool%d\",\"RowKey\":\"%d.%06d\",\"Event\":\"cascade:step-%d\",\"NodeId\":\"node-%d\",\"Message\":\"img=redis:%d,diff=1.5\"}\n",
					n % partitions, 1508000000 + e, n, e % 7, n, e
	}' >"$1"
}

# stored PARTITION: how many events the aggregator has.
stored() {
	timeout 60 poolscope-dump -q -p "$1" --kind event | wc -l
}

aggregator() {
	start aggregator poolscope-aggregator --models "$ROOT/deploy/models"
}

# ---- wrong usage is one line and 2
wrong_usage "no file is wrong usage" "" poolscope-import cascade
wrong_usage "another kind is wrong usage" "'dreams' is not one of cascade, emits, perf, records, scanner, testrun, azure-table" poolscope-import dreams x
wrong_usage "emits without a partition are wrong usage" "partition is missing" poolscope-import emits x
wrong_usage "standard input twice is wrong usage" "only once" poolscope-import cascade - -

# ---- nobody there
rows "$TMP/small" 3 4
check_status 1 "without a broker it gives up" \
	poolscope-import --timeout 1s cascade "$TMP/small"
check_printed "... and says what to do" "no answer from ipc://$DIR/run/broker.ipc .*poolscope up"
check_status 1 "a file that is not there is an error" \
	poolscope-import cascade "$TMP/nothing"
check_printed "... with its name" "$TMP/nothing: No such file"
check_status 1 "so is a directory" poolscope-import cascade "$TMP"

aggregator || exit 1
start broker poolscope-broker || exit 1

# ---- once
check "a file is imported" poolscope-import cascade "$TMP/small"
check_text "... and says so" "12 events, 0 bad lines" "$(cat "$TMP/out")"
check_text "... all of it is there" 12 "$(stored 'acct$pool0')"
cp "$TMP/small" "$TMP/again"
check "the same content under another name is taken" poolscope-import cascade "$TMP/again"
check_text "... and known" "12 events, 0 bad lines, 12 already there" "$(cat "$TMP/out")"
check "from standard input too" sh -c "poolscope-import cascade - <'$TMP/small'"
check_text "... which is known as well" "12 events, 0 bad lines, 12 already there" "$(cat "$TMP/out")"
check "from a pipe too" sh -c "cat '$TMP/small' | poolscope-import -q cascade /dev/stdin"
check_text "... and nothing is stored twice" 12 "$(stored 'acct$pool0')"
check_text "--quiet says nothing" "" "$(cat "$TMP/out" "$TMP/err")"
check "an empty file is no trouble" poolscope-import cascade /dev/null

# ---- what a row becomes
printf '%s\n' '{"PartitionKey":"a$b","RowKey":"1508000063.695798123","Event":"x:y:z","NodeId":"n 1","Message":"m=\u00e4"}' \
	'' '{"PartitionKey":"a$b","RowKey":"5","Event":"x:y","NodeId":"n2","Message":null}' >"$TMP/two"
check "rows with and without a message are taken" poolscope-import cascade "$TMP/two"
poolscope-dump -q -p 'a$b' --kind event | /usr/bin/python3 -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(sorted((k, v) for k, v in r.items() if k in ("node", "source", "name", "time_ns", "attributes")))
' >"$TMP/got"
check "... to the nanosecond, split at the first colon" grep -q 1508000063695798123 "$TMP/got"
check "... with its text" grep -q "'name', 'y:z'" "$TMP/got"
printf '%s\n' '{"node":"n","source":"NodePrep","event":"START","ts":"1508000060.5","clock_us":1,"message":"k=v","prefix":"mine"}' \
	'{"node":"n","source":"a","event":"b","ts":null,"clock_us":1508000061000001,"message":null,"prefix":"shipyard"}' >"$TMP/emits"
check "emits are taken" poolscope-import -p 'c$d' emits "$TMP/emits"
poolscope-dump -q -p 'c$d' --kind event >"$TMP/got"
check "... lower-cased" grep -q '"nodeprep".*"start"' "$TMP/got"
check "... with a prefix that is not the default" grep -q '"prefix": *"mine"' "$TMP/got"
check "... at the recorder's clock where they say no time" grep -q 1508000061000001000 "$TMP/got"
check "... and without the prefix that is" test "$(grep -c prefix "$TMP/got")" = 1

# ---- bad lines
{
	head -n 2 "$TMP/small"
	echo 'no json'
	echo '{"PartitionKey":"acct$pool0","RowKey":"1508000000","Event":"nocolon","NodeId":"n"}'
	printf '{"PartitionKey":"acct$pool0","RowKey":"1508000000","Event":"a:b","NodeId":"%s"}\n' \
		"$(head -c 256 /dev/zero | tr '\0' x)"
	echo '{"PartitionKey":"acct$pool0","RowKey":"99999999999","Event":"a:b","NodeId":"n"}'
	printf '{"x":"%s"}\n' "$(head -c 1100000 /dev/zero | tr '\0' x)"
	tail -n 2 "$TMP/small"
} >"$TMP/bad"
check_status 1 "bad lines are an error in the end" poolscope-import cascade "$TMP/bad"
check_printed "... that counts them" "5 bad lines were left out"
check_text "... the others are imported" "4 events, 5 bad lines" "$(cat "$TMP/out")"
check_printed "... line 3 by its number" "^$TMP/bad:3: not JSON"
check_printed "... line 4 with its reason" '^.*/bad:4: "Event" is not SOURCE:NAME'
check_printed "... a limit with its value" "^.*/bad:5: .*255 bytes"
check_printed "... a time out of range" "^.*/bad:6: "
check_printed "... a line that is too long" "^.*/bad:7: is longer than 1048576 bytes"
check_text "... and were there: they are rows of the first file" 12 "$(stored 'acct$pool0')"
check_status 1 "--strict stops at the first" poolscope-import --strict cascade "$TMP/small" "$TMP/bad"
check_printed "... says which" "bad:3: not JSON"
check_printed "... and imports nothing" "nothing was imported"
check "a file without bad lines passes --strict" poolscope-import --strict cascade "$TMP/small"

# ---- reports of hosts
# reports FIRST COUNT: some of them, one a line.
reports() {
	awk -v first="$1" -v count="$2" 'BEGIN {
		for (i = first; i < first + count; i++)
			printf "%s{\"timestamp\":%d.25,\"cpu_pct_per_cpu_avg\":%d,\"cpu_pct_per_cpu_min\":0.0,\"cpu_pct_per_cpu_max\":50.5,\"mem_percent\":1,\"disk_usage_percent\":2,\"disk_io_read_mb\":%d,\"disk_io_write_mb\":4,\"net_io_lo_sent_mb\":5,\"net_io_ext_sent_mb\":6,\"net_io_lo_recv_mb\":7,\"net_io_ext_recv_mb\":8}\n",
				(i > first ? "," : ""), 1650000000 + i, i, 3 * i
	}'
}
wrong_usage "reports without a partition are wrong usage" "partition is missing" poolscope-import perf x
{
	echo '{"nodes":[{"node":0,"reports":['
	reports 0 1000
	echo ']},{"node":"n 1","reports":[]}]}'
} >"$TMP/reports"
check "reports are imported" poolscope-import -p 'perf$a' perf "$TMP/reports"
check_text "... and counted" "1000 reports, 0 bad reports" "$(cat "$TMP/out")"
check "the same again is taken" sh -c "poolscope-import -p 'perf\$a' perf - <'$TMP/reports'"
check_text "... and known" "1000 reports, 0 bad reports, 1000 already there" "$(cat "$TMP/out")"
check_text "... and there once" 1000 "$(poolscope-dump -q -p 'perf$a' --kind sample | wc -l)"
{
	echo '{"0":['
	reports 0 3
	echo ',{},'
	reports 3 2
	echo '],"1":7,"2":['
	reports 0 1
} >"$TMP/reports"
check_status 1 "bad reports are an error in the end" poolscope-import -p 'perf$b' perf "$TMP/reports"
check_printed "... with node and place" '^.*/reports:5: node 0, report 4: "timestamp" is missing'
check_printed "... a list that is none" "^.*/reports:8: node 1: its reports are not a list"
check_printed "... and where the file breaks off" "^.*/reports:10: node 2, report 2: not JSON: unexpected end"
check_text "... the others are imported" 6 "$(poolscope-dump -q -p 'perf$b' --kind sample | wc -l)"
check_status 1 "--strict stops at the first report" poolscope-import -p 'perf$c' --strict perf "$TMP/reports"
check_printed "... says which" "reports:5: node 0, report 4"
check_text "... and imports nothing" "" "$(poolscope-dump -q -p 'perf$c' 2>/dev/null)"

# ---- several partitions, and the aggregator dies
rows "$TMP/large" 400 150 3
poolscope-import cascade "$TMP/large" >"$TMP/large.out" 2>&1 &
import=$!
wait_until 'test "$(stored "acct\$pool1")" -gt 0' 30
stop aggregator KILL
aggregator || exit 1
wait "$import"
check_text "an import survives the aggregator's death" 0 "$?"
check "... and says what it did" grep -q "^60000 events, 0 bad lines" "$TMP/large.out"
wait_until 'test "$(stored "acct\$pool1")" = 19950' 30
# 134 of the nodes in pool 0, 150 events each; 12 rows of before, 4 of them also here.
check_text "... each partition has its rows, once" "20108 19950 19950" \
	"$(stored 'acct$pool0') $(stored 'acct$pool1') $(stored 'acct$pool2')"

# ---- the import dies
rows "$TMP/third" 500 200
poolscope-import -q -p 'third$x' cascade "$TMP/third" &
import=$!
wait_until 'test "$(stored "third\$x")" -gt 0' 30
kill -9 "$import" 2>/dev/null
wait "$import" 2>/dev/null
check "an import that was killed goes on" poolscope-import -p 'third$x' cascade "$TMP/third"
wait_until 'test "$(stored "third\$x")" = 100000' 30
check_text "... and nothing is there twice" 100000 "$(stored 'third$x')"

# ---- two at once
rows "$TMP/twins" 300 100
poolscope-import -q -p 'twins$x' cascade "$TMP/twins" &
import=$!
check "two imports of one file do not disturb each other" \
	poolscope-import -q -p 'twins$x' cascade "$TMP/twins"
wait "$import"
check_text "... both end well" 0 "$?"
wait_until 'test "$(stored "twins\$x")" = 30000' 30
check_text "... and it is there once" 30000 "$(stored 'twins$x')"
