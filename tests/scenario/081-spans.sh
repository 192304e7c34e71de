#!/bin/sh
# A build of ten compilations of 1, 2 ... 10 s on cn1, one after the other, and a link
# of 5 s on cn2 that begins when they end, 55 s after the first began.  Wall time is
# 55 + 5 = 60 s.
#
# cc: 10 spans.  Nearest rank: p50 is the 5th of ten, 5 s; p90 the 9th, 9 s; p99 the
# 10th, 10 s, which is the longest.  Sum 1 + 2 + ... + 10 = 55 s, 55/60 of the wall time.
# ld: one span, all of them 5 s; 5/60.
# Spans that begin in the first 3 s: those at 0 and 1; the one at 3 is outside of [0, 3).
#
# In another pool 101 steps of 1, 2 ... 101 s, of which number k begins at k s and ends at 2 k s, inside a
# span from 0 to 1000 s: wall time is 1000 s, though the last one that begins ends at 202 s.  p99 is the 100th
# (0.99 x 101 = 99.99), 100 s, and the longest one 101 s.  Together they are 101 x 102 / 2 = 5151 s, more than
# 1000 s, and come first.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
{
	begin=0
	for seconds in 1 2 3 4 5 6 7 8 9 10; do
		echo "span $begin $((begin + seconds)) cn1 build cc"
		begin=$((begin + seconds))
	done
	echo "span 55 60 cn2 link ld"
} | records
answer "how long the parts of a build took" "cc,10,5.0,9.0,10.0,10.0,55.0
ld,1,5.0,5.0,5.0,5.0,5.0" columns name,count,p50,p90,p99,max,sum poolscope-stats spans --format csv
answer "... and their share of the wall time" "0.9167 0.0833" sh -c \
	'poolscope-stats spans --format json | /usr/bin/python3 -c "import json, sys
print(*(\"%.4f\" % s[\"wall_share\"] for s in json.load(sys.stdin)[\"rows\"]))"'
answer "by track" "build,10
link,1" columns track,count poolscope-stats spans --by track --format csv
answer "by node" "cn1,55.0
cn2,5.0" columns node,sum poolscope-stats spans --by node --format csv
answer "the slowest, each by itself" "cc,cn1,build,2023-11-14T22:14:05Z,10
cc,cn1,build,2023-11-14T22:13:56Z,9
cc,cn1,build,2023-11-14T22:13:48Z,8" columns name,node,track,begin,duration poolscope-stats spans --by span --top 3 --format csv
answer "... of equal ones that which began first" "cn1,5
cn2,5" columns node,duration sh -c \
	'poolscope-stats spans --by span --format csv | grep -e duration -e ",5$"'
answer "those of a name" "ld,1" columns name,count poolscope-stats spans --name 'l*' --format csv
answer "those that begin in a window" "cc,2,2.0" columns name,count,max poolscope-stats spans \
	--from "$(at 0)" --to "$(at 3)" --format csv
answer "... or since a day" "cc,10
ld,1" columns name,count poolscope-stats spans --from 2023-11-14 --to today --format csv
check_status 1 "yesterday there were none" poolscope-stats spans --from yesterday
check "the table" poolscope-stats spans
check_printed "... says what the wall time is" "60 s from first to last"
check_printed "... of which compilations are 55" '^cc .* 91[.]7 %$'
check_printed "... and the link is 5" '^ld .* 8[.]3 %$'
# head_of [ARGUMENT...]: the window that was asked for, the wall time.
head_of() {
	poolscope-stats spans --format json "$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
print(*(json.load(open(sys.argv[1]))[name] for name in ("from", "to", "wall")))' "$TMP/json"
}
answer "in JSON a window that was not asked for is unknown" "None None 60" head_of
answer "... and is there if it was" "2023-11-14T22:13:20Z 2023-11-14T22:13:23Z 3" head_of --from "$(at 0)" --to "$(at 3)"
check_text "... in 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
wrong_usage "phases have no track" "--by of phases must be one of pool|node" poolscope-stats phases --by track
check_status 1 "a name that no span has" poolscope-stats spans --name nothing
check_printed "... says so" "no such spans in partition acct\$pool"
PARTITION='acct$many'
{
	echo "span 0 1000 cn1 main whole"
	for k in $(seq 101); do
		echo "span $k $((2 * k)) cn1 main step"
	done
} | records
answer "the longest of 101 is not their p99" "step,101,100.0,101.0
whole,1,1000.0,1000.0" columns name,count,p99,max poolscope-stats spans -p "$PARTITION" --format csv
answer "... and a span around others ends last" 1000 field wall poolscope-stats spans -p "$PARTITION" --format json
# The command of README, in the same store.
start broker poolscope-broker || exit 1
start agent poolscope-agent -n cn3 --no-samples || exit 1
check "a command becomes a span" poolscope-run --name sleep -- sleep 0.2
check "... that is answered" wait_until \
	'poolscope-stats spans --name sleep --format csv | grep -q "^sleep,,,1,0[.]"' 30
