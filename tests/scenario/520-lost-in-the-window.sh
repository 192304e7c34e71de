#!/bin/sh
# What was lost in the time of an answer stands at its end, in every format.
#
# A step from 0 to 10 s and one from 300 to 310 s.  Between 50 and 60 s the spool was full:
# 7 events were lost.  Between 400 and 410 s records were lost of which nobody knows the
# number (count 0).
#
#   [0, 300)    7 records, one gap
#   [300, 390)  nothing was lost
#   all times   more than 7 records, two gaps
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event   0 n1 work:start
	event  10 n1 work:end
	event 300 n1 work:start
	event 310 n1 work:end
	gap  50  60 n1 event full 7
	gap 400 410 n1 event full 0
END
# phases FORMAT [OPTION...]: the notes and whether it is complete, as programs read them.
phases() {
	_format=$1
	shift
	poolscope-stats phases --format "$_format" "$@" >"$TMP/answer" || return
	/usr/bin/python3 -c 'import json, sys
answer = json.load(open(sys.argv[2])) if sys.argv[1] == "json" else json.loads(open(sys.argv[2]).readlines()[-1])["poolscope"]
print(*("%s %s" % (note["key"], note["count"]) for note in answer["notes"]), answer["complete"])' "$_format" "$TMP/answer"
}
answer "a window with a gap" "lost 7 True" phases json --from "$(at 0)" --to "$(at 300)"
answer "... in the last line of lines of JSON" "lost 7 True" phases jsonl --from "$(at 0)" --to "$(at 300)"
answer "a window without one" "True" phases json --from "$(at 300)" --to "$(at 390)"
answer "a number that nobody knows is unknown" "lost None True" phases json

set -- --from "$(at 0)" --to "$(at 300)"
lost="7 records of this time were lost (1 gap): poolscope dump --kind gap shows which"
check "as a table" poolscope-stats phases "$@"
check_text "... it is below" "$lost" "$(tail -n 1 "$TMP/out")"
check "as Markdown" poolscope-stats phases --format md "$@"
check_text "... it is below, too" "$lost" "$(tail -n 1 "$TMP/out")"
poolscope-stats phases --format csv "$@" >"$TMP/csv" 2>"$TMP/warned"
check_text "CSV has rows only" 2 "$(wc -l <"$TMP/csv")"
check_text "... and says it on standard error" "warn poolscope-stats: $lost" "$(cat "$TMP/warned")"
check "a table of all times" poolscope-stats phases
check_printed "... says what is not known" '^more than 7 records of this time were lost (2 gaps)'
