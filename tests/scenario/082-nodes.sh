#!/bin/sh
# Now is 0; nodes were heard before it:
# n1 5 s ago: live.  n2 5 min ago (1 to 10 min): late.  n3 30 min ago (10 min to 1 h):
# silent.  n4 3 h ago: gone.  n5's clock is 2 h behind: its last sample was taken at
# -7205 by its clock, and its offset, 7200 s, makes that -5: live, but its clock is off.
# n6 5 s ago, with 20,000,000 bytes (19.1 MiB) that its agent has not sent, more than
# 16 MiB: its spool fills.
# n7 was heard two days ago: gone, as all that were once heard; --from asks for those since then.
# The worst come first: a spool that fills before a clock that is off; of equal ones by name.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
{
	for node in n1 n2 n3 n4 n6 n7; do
		echo "group $node self poolscope.agent.spool.unacked:By:gauge"
	done
	echo "group n5 clock poolscope.clock.offset:ns:gauge"
	cat <<-'END'
		sample -65 n1 self 70
		sample -5 n1 self 0
		sample -300 n2 self 0
		sample -1800 n3 self 0
		sample -10800 n4 self 0
		sample -7205 n5 clock 7200000000000
		sample -5 n6 self 20000000
		sample -172800 n7 self 0
	END
} | records
check_status 3 "a node is gone" poolscope nodes --format csv
cp "$TMP/out" "$TMP/nodes.csv"
check_text "... the nodes, the worst first" "n4,gone,not heard
n7,gone,not heard
n3,silent,not heard
n6,live,spool fills
n5,live,clock off
n2,late,
n1,live," "$(columns node,state,wrong cat "$TMP/nodes.csv")"
check_text "... the last value counts" "n6,20000000 n1,0" \
	"$(columns node,spool_bytes cat "$TMP/nodes.csv" | grep '^n[16]' | xargs)"
check "one is late, which may pass" poolscope nodes -n n2
check_status 3 "a clock is off" poolscope nodes -n n5
check_printed "... by two hours" "^n5 *live .* 2.00 h  clock off"
check_status 3 "a spool fills" poolscope nodes -n n6
check_printed "... with its size" "^n6 *live .* 19.1 MiB "
check "all is well with the first" poolscope nodes -n n1
check_printed "... in words" "^1 live, 0 late, 0 silent, 0 gone"
check_status 3 "those of a day" poolscope nodes --from '1 day ago' --sort silence --format csv
check_text "... the longest silence first" "n4 n3 n2" \
	"$(columns node cat "$TMP/out" | head -3 | xargs)"
check_text "pools counts the same" "3,1,1,2" "$(columns live,late,silent,gone poolscope stats pools --format csv)"
check_status 3 "by clock" poolscope stats nodes --sort clock_offset --format json
check_text "... the one that is off" n5 "$(/usr/bin/python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["rows"][0]["node"])' "$TMP/out")"
for wrong in wrong WRONG; do
	check_status 3 "by what is $wrong" poolscope nodes --sort $wrong --format csv
	check_text "... the worst first" "n4 n7 n3 n6 n5 n2 n1" "$(columns node cat "$TMP/out" | xargs)"
done
check_status 3 "by a title that is another column's name, too" poolscope nodes --sort HEARD --format csv
check_text "... the longest silence first" "n7 n4 n3 n2" "$(columns node cat "$TMP/out" | head -4 | xargs)"
check_status 3 "the table" poolscope nodes
check_text "... fits 80 columns" 1 "$(awk 'length > 80 { wide = 1 } END { print !wide }' "$TMP/out")"
check_status 1 "nodes that there are not" poolscope nodes -n x1
check_printed "... are reported" "no node of partition acct\$pool is called 'x1'"
