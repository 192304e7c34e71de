#!/bin/sh
# Five nodes of a rack and a login node; each runs one command: cn001 for 1 s, cn002 for
# 2 s ... cn005 for 5 s, and login1 for 10 s.  Their sums are therefore 1 to 5, and 10.
#
# cn[002-004] is 2 + 3 + 4; `-n cn001 -n login1` are 1 and 10; cn[001-002,5] has no node
# cn5 (001 has three digits, 5 has one), which is reported.
# A mistyped name is answered with the nearest one, and the exit status is 1.
# A node whose name has a comma, "x,y", runs for 7 s: \, is a comma.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
{
	for node in 1 2 3 4 5; do
		echo "span 0 $node cn00$node build cc"
		echo "event 0 cn00$node work:start"
	done
	echo "span 0 10 login1 build cc"
	echo "span 0 7 x,y build cc"
} | records

# sums ARGUMENT...: each node and the seconds of its spans, in one line.
sums() {
	columns node,sum poolscope-stats spans --by node --format csv "$@" | tr '\n' ' '
}

for how in "an aggregator" "the store"; do
	answer "a Slurm list, from $how" "cn004,4.0 cn003,3.0 cn002,2.0 " sums -n 'cn[002-004]'
	answer "... -n twice" "login1,10.0 cn001,1.0 " sums -n cn001 -n login1
	answer "... names, a range and a pattern" "login1,10.0 cn005,5.0 cn002,2.0 cn001,1.0 " \
		sums -n 'cn[001-002], cn005,log*'
	answer "... a comma in a name" 'x,y,7.0 ' sums -n 'x\,y'
	check "... some names of a range are no nodes" poolscope-stats spans -n 'cn[001-002,5,7]'
	check_printed "... which is reported" \
		"no records of 2 of the 4 nodes of .*: cn5, cn7"
	check_status 1 "... a mistyped name" poolscope-stats spans -n cn0001
	check_printed "... is answered with the nearest" \
		"no node of partition acct\$pool is called 'cn0001'; did you mean cn001,"
	check_status 1 "... also next to one that exists" poolscope-stats spans -n cn001,lgoin1
	check_printed "... by its name" "called 'lgoin1'; did you mean login1?"
	check_status 1 "... a range that has no node" poolscope-stats usage -n 'gpu[1-4]'
	check_printed "... is answered with what there is" "it has 7 nodes, such as cn001, cn002, cn003"
	check "... dump goes on" poolscope-dump -n 'gpu[1-4]'
	check_printed "... and says so, too" "it has 7 nodes, such as cn001, cn002, cn003"
	check "... an event that does not exist" poolscope-dump --kind event --name work:strat
	check_printed "... is answered with the nearest" "did you mean work:start?"
	check_text "... dump prints what the list selects" 2 \
		"$(poolscope-dump --kind span -n 'cn[004-005]' | wc -l)"
	check "... trace writes it" poolscope-trace -n 'cn[001-002]' -o "$TMP/t.json"
	check_text "... and no other" "cn001 cn002 " "$(grep -o 'cn00[0-9]' "$TMP/t.json" | sort -u | tr '\n' ' ')"
	check_status 1 "... a mistyped partition" poolscope-stats spans -p 'acct$pol'
	# shellcheck disable=SC2016 # a partition's name
	check_printed "... is answered with the nearest" 'did you mean acct$pool?'
	if [ "$how" = "an aggregator" ]; then
		stop aggregator
	fi
done
wrong_usage "a set that is not closed" "numbers and ranges are expected" poolscope-stats spans -n 'cn[1-3'
wrong_usage "too many names" "65536 nodes at most" poolscope-dump -n 'cn[1-70000]'
wrong_usage "a comma too many" "a name is empty" poolscope-plot usage -n 'cn1,'
