#!/bin/sh
# Control-C ends an import and what generates with 130, as it ends others: a script that goes on
# after a failure stops then.  A zone of TZ that nobody has is no UTC.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # wait_until evaluates it
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

# No broker: they wait until they are interrupted.
# interrupt NAME COMMAND...
interrupt() {
	_name=$1
	shift
	"$@" >"$TMP/printed" 2>&1 &
	_pid=$!
	wait_until 'grep -q "is the broker running" "$TMP/printed"'
	kill -INT "$_pid"
	wait "$_pid"
	check_text "$_name: interrupted" 130 "$?"
	check "$_name: ... and says so" grep -q interrupted "$TMP/printed"
}
interrupt "generate" poolscope-generate testrun --runs 5 -p "$PARTITION"
interrupt "generate pool" poolscope-generate pool --nodes 2 -p "$PARTITION"
poolscope-generate pool --nodes 2 --quiet -o "$TMP/made"
interrupt "import" poolscope-import records -p "$PARTITION" "$TMP/made/records.jsonl"

aggregate_steps
records <<-'END'
	event 100 n1 work:start
	event 160 n1 work:end
END
TZ=foo/bar check_status 2 "a zone that is not there" poolscope-dump --kind event --tz local
check_printed "... by the name of the variable" "TZ: 'foo/bar' is not a name of /usr/share/zoneinfo"
for zone in Europe/Berlin CET-1CEST,M3.5.0/2,M10.5.0/3 :Europe/Berlin; do
	TZ=$zone check "$zone is one" poolscope-dump --kind event --tz local --format csv
	check_printed "$zone: ... and counts" '2023-11-14T23:15:00.*[+]01:00'
done
