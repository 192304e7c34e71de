#!/bin/sh
# Programs that read the directory of a store and die in the middle, or take every
# place for readers that there is: the aggregator stores, indexes and answers.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"

READERS=$ROOT/tests/fault/readers.py
die() {
	for part in tables journal; do
		/usr/bin/python3 "$READERS" "$DIR/store/$part" "$1" die
	done >/dev/null 2>&1
}
taken() {
	/usr/bin/python3 "$READERS" "$DIR/store/$1" 0 list
}
# What the aggregator keeps for itself is all that is left.
cleared() {
	[ "$(taken tables)" -lt 40 ] && [ "$(taken journal)" -lt 40 ]
}
EVENTS=0
# The aggregator answers with all events.
answered() {
	[ "$(timeout 60 poolscope-dump -p acct/pool --connect "ipc://$DIR/run/reader.ipc" --quiet |
		wc -l)" -eq "$EVENTS" ]
}
stored() {
	check "an event is stored $1" timeout 60 poolscope-emit -p acct/pool test event --wait stored
	EVENTS=$((EVENTS + 1))
	check "... and answered" wait_until answered
}

start aggregator poolscope-aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" \
	-p acct/pool -n node1 || exit 1
stored "with no reader"

# ---- readers that died
die 100
stored "after 100 readers of each part died"
check "their places are free again after some seconds" wait_until cleared 30
stop aggregator
die 470
start aggregator poolscope-aggregator || exit 1
check "an aggregator that starts frees the places at once" cleared

# ---- readers that live
hold() {
	mkfifo "$TMP/$1.hold"
	/usr/bin/python3 "$READERS" "$DIR/store/$1" all hold <"$TMP/$1.hold" >"$TMP/$1.held" 2>&1 &
}
held() {
	[ -s "$TMP/tables.held" ] && [ -s "$TMP/journal.held" ]
}
hold tables
hold journal
exec 7>"$TMP/tables.hold" 8>"$TMP/journal.hold"
check "a program takes every place for readers" \
	wait_until held
stored "although no place is left"
check_status 1 "a further reader of the directory is refused" \
	timeout 60 poolscope-dump -p acct/pool --store "$DIR/store"
check_printed "... with a sentence" "read this store.*--connect"
exec 7>&- 8>&-
wait_until cleared 30
check "it is served when the others have gone" \
	timeout 60 poolscope-dump -p acct/pool --store "$DIR/store" --quiet
stop aggregator
check "the aggregator ends as always" test "$STATUS" -eq 0
