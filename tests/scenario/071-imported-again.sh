#!/bin/sh
# A file of 3 events is imported; a line is appended, and it is imported again, and
# once more from a copy that also lost its first line.  Four different events were
# given: the store has 4.  Two equal rows within a file are two: a file of 2 equal rows
# and another one brings 3; with a third equal one appended, 4.  Reports likewise:
# 2 reports, then 3 of which the first 2 are known, are 3.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2119 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# row TIME NAME [MESSAGE]
row() {
	printf '{"PartitionKey":"acct$pool","RowKey":"%s","Event":"work:%s","NodeId":"n1","Message":"%s"}\n' \
		"$(at "$1")" "$2" "${3:-}"
}
report() {
	printf '{"cpu_pct_per_cpu_avg":1,"cpu_pct_per_cpu_min":1,"cpu_pct_per_cpu_max":1,"mem_percent":1,
"disk_usage_percent":1,"disk_io_read_mb":1,"disk_io_write_mb":1,"net_io_lo_sent_mb":1,"net_io_lo_recv_mb":1,
"net_io_ext_sent_mb":1,"net_io_ext_recv_mb":1,"timestamp":%s}' "$(at "$1")"
}
# stored PARTITION KIND [NAME]: how many records the store has.
stored() {
	wait_until indexed 30 || return
	poolscope-dump -q -p "$1" --kind "$2" ${3:+--name "$3"} --format jsonl | wc -l
}

aggregate
start broker poolscope-broker || exit 1
{ row 0 start && row 60 end && row 4000 start; } >"$TMP/log"
check "a log is imported" poolscope-import cascade "$TMP/log"
check_text "... and counted" "3 events, 0 bad lines" "$(cat "$TMP/out")"
check "the same again" poolscope-import cascade "$TMP/log"
check_text "... is known" "3 events, 0 bad lines, 3 already there" "$(cat "$TMP/out")"
row 4060 end >>"$TMP/log"
check "the log has grown" poolscope-import cascade "$TMP/log"
check_text "... every row is there once" 4 "$(stored 'acct$pool' event)"
sed 1d "$TMP/log" >"$TMP/copy"
check "a copy of it was cut" poolscope-import cascade "$TMP/copy"
check_text "... and brings nothing" 4 "$(stored 'acct$pool' event)"
answer "the aggregator has counted what it passed over: 3 and 3" 6 \
	field aggregator/index_repeated "$ROOT/tests/flow/counters.py"

for _ in 1 2; do row 100 tick same; done >"$TMP/twice"
row 100 tick other >>"$TMP/twice"
check "two of three rows are equal" poolscope-import cascade -p 'acct$ticks' "$TMP/twice"
check_text "... and three events" 3 "$(stored 'acct$ticks' event)"
row 100 tick same >>"$TMP/twice"
check "... the same again, with another equal one" poolscope-import cascade -p 'acct$ticks' "$TMP/twice"
check_text "... which is one more" 4 "$(stored 'acct$ticks' event)"
row 100 tick same >"$TMP/one"
check "... alone in a file" poolscope-import cascade -p 'acct$ticks' "$TMP/one"
check_text "... it is the first of them" 4 "$(stored 'acct$ticks' event)"

printf '{"n1":[%s,%s]}\n' "$(report 0)" "$(report 1)" >"$TMP/reports"
check "reports are imported" poolscope-import -p 'acct$perf' perf "$TMP/reports"
printf '{"n1":[%s,%s,%s]}\n' "$(report 0)" "$(report 1)" "$(report 2)" >"$TMP/reports"
check "... more of them" poolscope-import -p 'acct$perf' perf "$TMP/reports"
check_text "... each is there once" 3 "$(stored 'acct$perf' sample)"

# Nothing of this changes by a compaction, a restart or a copy of the store.
stop aggregator
check "the store is compacted" poolscope-admin compact
check "... and whole" poolscope-admin verify
aggregate
row 8000 start >>"$TMP/log"
check "the log has grown again" poolscope-import cascade "$TMP/log"
check_text "... by one row" 5 "$(stored 'acct$pool' event)"
