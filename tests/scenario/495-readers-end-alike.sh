#!/bin/sh
# Programs that read end alike.  A disk flipped a bit in the spans of n2: of 3 spans
# each program with a file of output writes what it can read of the 2 others, and ends
# with 1; with --damaged skip it ends with 0.  A partition that does not exist leaves
# the file of before as it was, and so does a file that cannot be written.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --compact-after 1d
records <<-'END'
	span 0 5 n1 build compile
	span 0 6 n2 build compile text=flip-this-one
	span 0 7 n3 build compile
END
stop aggregator
flip_bit

# asked FILE COMMAND...: the command writes the file, and ends as it must.
asked() {
	_file=$TMP/$1
	shift
	check_status 1 "$*" "$@" -o "$_file"
	check_printed "... says how much it lacks" '1 damaged rows or pages were left out'
	mv "$_file" "$_file.rest" || fail "... and writes the rest"
	check "... --damaged skip accepts it" "$@" --damaged skip -o "$_file"
	check "... and gives the same" cmp "$_file" "$_file.rest"
}
asked spans.csv poolscope-stats spans --format csv
check_text "two of three spans" 2 "$(/usr/bin/python3 -c 'import csv, sys
print(sum(int(row["count"]) for row in csv.DictReader(open(sys.argv[1]))))' "$TMP/spans.csv")"
asked dump.jsonl poolscope-dump --kind span
check_text "the same two" "n1 n3" "$(grep -o '"node": "n[0-9]"' "$TMP/dump.jsonl" | grep -o 'n[0-9]' | paste -sd " ")"
asked dump.csv poolscope-dump --kind span --format csv
asked trace.json poolscope-trace

# refused FILE COMMAND...: the file of before stays as it was, and nothing is next to it.
refused() {
	mkdir "$TMP/out.d"
	echo before >"$TMP/out.d/$1"
	_file=$TMP/out.d/$1
	shift
	check_status 1 "$* of no partition" "$@" -p 'acct$none' -o "$_file"
	check_printed "... says so" 'acct.none'
	check_text "... and leaves the file of before" before "$(cat "$TMP"/out.d/*)"
	rm -r "$TMP/out.d"
	check_status 1 "$* into no folder" "$@" -o "$TMP/none/file.json"
	check_printed "... says so" 'none/file.json'
	check_status 2 "$* with times that are none" "$@" -o "$TMP/file.json" --from 2024-01-02 --to 2024-01-01
	check_printed "... says so" 'from: the time is not before that of --to'
}
refused spans.csv poolscope-stats spans --damaged skip
refused cascade.csv poolscope-stats cascade --damaged skip
refused trace.json poolscope-trace --damaged skip
refused report.html poolscope-report --damaged skip
