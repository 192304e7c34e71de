#!/bin/sh
# An import of records that no answer would have: counters without poolscope.boot, and
# a definition of cpu with other columns than the agents'.  Each is a bad line with its
# reason, the exit status is 1; what is right is kept.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate || exit 1
start broker poolscope-broker || exit 1
# set NAME NAMES TYPES: the line of a dump.
set_of() {
	printf '{"kind":"entity","partition":"%s","node":"n1","entity":"set","id":"%s","properties":{"names":"%s","units":"1 1","types":"%s"}}\n' \
		"$PARTITION" "$1" "$2" "$3"
}
{
	set_of app/good "poolscope.boot requests" "gauge counter"
	set_of app/plain "temperature humidity" "gauge gauge"
	set_of app/bad "requests errors" "counter counter"
	set_of cpu "other columns" "gauge gauge"
} >"$TMP/lines"
check_status 1 "an import of two good and two bad definitions" poolscope-import records "$TMP/lines"
check_printed "... counts them" "^2 records, 2 bad lines"
check_printed "... counters need the boot" "lines:3: defines counters without poolscope.boot"
check_printed "... cpu is the agents'" "lines:4: .*cpu"
check_status 1 "with --strict" poolscope-import --strict records "$TMP/lines"
check_printed "... nothing is imported" "nothing was imported"
stop broker
stop aggregator
