#!/bin/sh
# The log of a service has the local time with its offset in front of each line, where
# nobody else adds one: in a file, but not in the journal's stream, nor in a pipe.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# logged NAME: run a broker until it is ready, with this file as standard error.
logged() {
	poolscope-broker --pid-file "$TMP/pid" 2>"$1" &
	_broker=$!
	wait_until "grep -q 'poolscope-broker: ready' '$1'" 20
	kill "$_broker"
	wait "$_broker"
}
began=$(date +%s)
TZ=Asia/Kolkata
export TZ
logged "$TMP/file"
ended=$(date +%s)
check_text "each line has a time" "" "$(grep -vE \
	'^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+05:30 [a-z]+ poolscope-broker: ' "$TMP/file")"
time=$(date -d "$(sed -n 's/ info poolscope-broker: ready$//p' "$TMP/file")" +%s)
check "it is that of the clock" test "$time" -ge "$began" -a "$time" -le "$ended"
: >"$TMP/journal"
JOURNAL_STREAM=$(stat -c %d:%i "$TMP/journal")
export JOURNAL_STREAM
logged "$TMP/journal"
check "the journal has its own" grep -q '^info poolscope-broker: ready$' "$TMP/journal"
logged "$TMP/redirected"
check "a file has it all the same" grep -q '^20.* info poolscope-broker: ready$' "$TMP/redirected"
unset JOURNAL_STREAM
mkfifo "$TMP/pipe"
cat "$TMP/pipe" >"$TMP/piped" &
poolscope-broker --pid-file "$TMP/pid" 2>"$TMP/pipe" &
wait_until "grep -q ready '$TMP/piped'" 20
kill "$!"
wait
check "whoever reads a pipe adds it" grep -q '^info poolscope-broker: ready$' "$TMP/piped"
check_status 2 "a program that is no service" poolscope-dump --nonsense
check_printed "... needs none" "^poolscope-dump: "
