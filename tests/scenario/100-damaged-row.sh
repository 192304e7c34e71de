#!/bin/sh
# A disk flipped one bit in the rows of node n2.  Three nodes had one event each, n2
# had its two in one row, so that row is lost, and counted once: 2 of 4 events are
# shown, 1 row is left out, the status is 1.  Whoever accepts that gets status 0.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --compact-after 1d
records <<-'END'
	event   0 n1 work:start
	event  10 n2 work:begins text=flip-this-one
	event  20 n2 work:end
	event  30 n3 work:start
END
stop aggregator
flip_bit

# asked NAME ARGUMENT...: the answer of a dump with these arguments.
asked() {
	_name=$1
	shift
	check_status 1 "$_name: a dump fails" poolscope-dump --kind event --format csv "$@"
	check_printed "... and says how much it lacks" '1 damaged rows or pages were left out'
	check_text "... after all that can be read" 2 "$(grep -c 'n[13],.*work' "$TMP/out")"
	check "... --damaged skip accepts it" poolscope-dump --kind event --format csv --damaged skip "$@"
	check_printed "... with a warning" '1 damaged rows or pages were left out'
}
asked "from the store" --store "$DIR/store"
check_status 3 "verify reports it, too" poolscope-admin verify --store "$DIR/store"
check_printed "... as a checksum" '1 rows have a wrong checksum'
aggregate --compact-after 1d
asked "from an aggregator" --connect "ipc://$DIR/run/reader.ipc"
check "its status" "$ROOT/tests/flow/counters.py"
check_printed "... counts it" '"damaged": *1'
