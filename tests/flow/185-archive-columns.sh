#!/bin/sh
# Recorded pools through the columns of the archive and back into the store:
# every command prints the same bytes.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
golden=$ROOT/tests/golden

# printed TO: what commands print of the store.
printed() {
	mkdir -p "$1"
	for _p in 'a$perf' 'a$scanner' 'a$testrun' 'a$emits'; do
		_to=$1/$(echo "$_p" | tr '$' '-')
		for _kind in event sample span gap rejected; do
			poolscope-dump -q -p "$_p" --kind "$_kind" >"$_to-$_kind" || return 1
		done
		poolscope-dump -q -p "$_p" --kind sample --format csv >"$_to.csv" || return 1
	done
	poolscope-stats perf -q -p 'a$perf' --format json -o "$1/perf.json" &&
		poolscope-stats scanner -q -p 'a$scanner' --job 3 --format json -o "$1/scanner.json" &&
		poolscope-stats groups -q -p 'a$testrun' --format json -o "$1/groups.json"
}

{ start aggregator poolscope-aggregator --models "$ROOT/deploy/models" &&
	start broker poolscope-broker; } || exit 1
check "reports of hosts are imported" poolscope-import perf -p 'a$perf' "$golden/perf/r02_four_nodes/reports.json"
check "profiles of a job are imported" poolscope-import scanner -p 'a$scanner' --job 3 "$golden/scanner/s02_two_workers/db"
check "test runs are imported" poolscope-import testrun -p 'a$testrun' "$golden/testrun/m02_fortyfive"
check "events of a cascade are imported" poolscope-import emits -p 'a$emits' "$golden/cascade/p02_pool8_p2p_private/emits.jsonl"
wait_until indexed 60 || fail "all of it is indexed"
stop broker
stop aggregator
check "commands print the pools" printed "$TMP/before"
check "... and there is something of each kind" test -s "$TMP/before/a-perf-sample" -a \
	-s "$TMP/before/a-scanner-span" -a -s "$TMP/before/a-testrun-event" -a -s "$TMP/before/a-emits-event"
check "the records go through the archive's columns" sh -c '"$B/flow/archive_trip" "$1" >"$2"' - "$DIR/store" "$TMP/count"
check "... all of them" test "$(cat "$TMP/count")" -ge "$(cat "$TMP"/before/*-event "$TMP"/before/*-sample "$TMP"/before/*-span | wc -l)"
check "the store verifies" poolscope-admin verify
check "commands print them again" printed "$TMP/after"
check "... the same bytes" diff -r "$TMP/before" "$TMP/after"
