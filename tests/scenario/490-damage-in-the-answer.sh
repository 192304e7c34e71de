#!/bin/sh
# A disk flipped a bit in the spans of n2.  A program gets the answer of another as JSON
# from a pipe, and sees no exit status and no standard error: the answer itself says that
# it is not complete, and why.  With --damaged skip, and of a question that did not need
# the row, it is complete.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --compact-after 1d
records <<-'END'
	span 0 5 n1 build compile
	span 0 6 n2 build compile text=flip-this-one
	span 0 7 n3 build compile
	event 10 n1 work:start
END
stop aggregator
flip_bit

# says SHAPE COMPLETE PATTERN COMMAND...: the answer, which Python reads, says whether it
# is complete, and why not.
says() {
	_shape=$1 _complete=$2 _pattern=$3
	shift 3
	"$@" >"$TMP/answer" 2>"$TMP/answer.err"
	echo "$?" >"$TMP/status"
	check "$*: complete is $_complete" /usr/bin/python3 -c '
import json, re, sys
shape, complete, pattern, path = sys.argv[1:]
lines = open(path).read()
end = json.loads(lines.splitlines()[-1])["poolscope"] if shape == "lines" else json.loads(lines)
assert end["complete"] is (complete == "true"), end
assert re.search(pattern, end.get("error", "")), end' "$_shape" "$_complete" "$_pattern" "$TMP/answer"
}
left_out='1 damaged rows or pages were left out'
for how in "object --format json" "lines --format jsonl" "object --format json --sort count" "object --format json --top 1"; do
	# shellcheck disable=SC2086 # words
	says "${how%% *}" false "$left_out" poolscope-stats spans ${how#* }
	check_text "... and ends with 1" 1 "$(cat "$TMP/status")"
	check "... says the same to people" grep -q "$left_out" "$TMP/answer.err"
	# shellcheck disable=SC2086 # words
	says "${how%% *}" true '^$' poolscope-stats spans ${how#* } --damaged skip
	check_text "... and ends with 0" 0 "$(cat "$TMP/status")"
done
says object true '^$' poolscope-stats phases --format json
check_text "... and ends with 0" 0 "$(cat "$TMP/status")"
check_status 1 "a table" poolscope-stats spans
check_printed "... says it, too" "$left_out"
