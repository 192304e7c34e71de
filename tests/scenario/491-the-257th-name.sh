#!/bin/sh
# Somebody puts the number of the job into the name: 300 names, each with a start and an
# end.  256 of them are phases, the first ones; of the other 44 the 88 events are counted,
# and the log names the limit once.  Another pool has its own 256.  A name that is there
# goes on.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

names() {
	poolscope-stats phases --format csv | grep -c ',1,'
}
over() {
	poolscope-stats status --format json | /usr/bin/python3 -c 'import json, sys
print(sum(c["value"] for c in json.load(sys.stdin)["counters"] if c["counter"] == "phase_names_over"))'
}
mkdir "$TMP/none"
aggregate --models "$TMP/none"
seq 300 | awk '{ printf "event %d n1 job:%d-start\nevent %d n1 job:%d-end\n", $1, $1, $1 + 1, $1 }' | records
check_text "256 names" 256 "$(names)"
check "the first ones" sh -c 'poolscope-stats phases --format csv | grep -q "^none:job:256,"'
check_text "the events of the others are counted" 88 "$(over)"
check_text "the log says it once" 1 "$(grep -c "acct.pool has 256 phases without a model, the most" "$TMP/aggregator.log")"
printf 'event 1000 n1 job:7-start\nevent 1002 n1 job:7-end\nevent 1003 n1 more:start\n' | records
check_text "a name that is there goes on" "none:job:7,2" \
	"$(columns phase,count poolscope-stats phases --name none:job:7 --format csv)"
check_text "a new one is counted" 89 "$(over)"
PARTITION='acct$other'
export POOLSCOPE_PARTITION='acct$other'
printf 'event 0 n1 more:start\nevent 4 n1 more:end\n' | records
check_text "another pool has its own" "none:more,1" "$(columns phase,count poolscope-stats phases --format csv)"
stop aggregator KILL
aggregate --models "$TMP/none"
printf 'event 10 n1 more:start\nevent 14 n1 more:end\n' | records
check_text "... also after a crash" "none:more,2" "$(columns phase,count poolscope-stats phases --format csv)"
PARTITION='acct$pool'
export POOLSCOPE_PARTITION='acct$pool'
printf 'event 1004 n1 more:end\n' | records
check_text "the limit holds after a restart" 256 "$(poolscope-stats phases --format csv | grep -c '^none:')"
check_text "... and is counted" 1 "$(over)"
