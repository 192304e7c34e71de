#!/bin/sh
# Three events of n1 and one of n2 are 4 records of 2 nodes in one partition; all is well,
# so that the exit status is 0.  A broker was never started, which is no failure; one that was
# killed is: it was in use (3, as for all that is wrong).  Without its aggregator the instance
# stores nothing: critical.
# The store alone, when it is named, is well.  The newest record is 300 s after 22:13:20.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

unset POOLSCOPE_PARTITION
check_status 3 "status of nothing is critical" poolscope status
check_printed "... and says what to do" "^critical: the aggregator is not running.*; poolscope up$"
# shellcheck disable=SC2119 # no arguments
aggregate
records <<-'END'
	event 100 n1 work:a
	event 200 n1 work:b
	event 250 n1 work:c
	event 300 n2 work:a
END
check "all is well" poolscope status
check_text "... in words, first" "ok: all is well" "$(head -1 "$TMP/out")"
check_printed "... what there is, with units" "^store  *1 partition, 2 nodes, 4 records, [0-9.]* [KM]iB$"
check_printed "... the aggregator" "^aggregator  *running"
check_printed "... no broker" "^broker  *not running"
check_printed "... the partition" '^acct.pool  *2  *4  2023-11-14T22:18:20'
check_text "... no counters" "" "$(grep index_commits "$TMP/out")"
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
for v in -v --verbose; do
	check "all counters" poolscope stats status $v
	check_printed "... are there" "^store  *records_event  *4  -$"
	check_printed "... durations with units" "^aggregator  *commit_ns  *[0-9]*  [0-9.]* [mun]*s$"
	check_text "... after the verdict" "ok: all is well" "$(head -1 "$TMP/out")"
done
start broker poolscope-broker || exit 1
check "with a broker" poolscope status
check_printed "... which runs" "^broker  *running"
stop broker
check "one that ended is no failure" poolscope status
start broker poolscope-broker || exit 1
stop broker KILL
check_status 3 "one that died is" poolscope status
check_text "... in words, first" "critical: the broker has died; poolscope up" "$(head -1 "$TMP/out")"
check_status 3 "... in JSON, too" poolscope status --format json
stop aggregator
check_status 3 "without the aggregator" poolscope status
check_printed "... the store is shown" "4 records"
check_status 3 "... in a file, too" poolscope status -o "$TMP/file"
check "... which begins with it" grep -q "^critical: the aggregator is not running" "$TMP/file"
check_status 3 "... and in the view of top" poolscope top --view pipeline --once
check "the store that is named" poolscope status --store "$DIR/store"
check_text "... is well" "ok: all is well" "$(head -1 "$TMP/out")"
check_status 3 "a store that is not there" poolscope status --store "$TMP/none"
check_text "... in words, first" "critical: the store does not answer" "$(head -1 "$TMP/out")"
