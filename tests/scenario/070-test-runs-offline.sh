#!/bin/sh
# A farm's agent has no network while a run flashes for 3 s and boots for 2 s.  The
# agent keeps the events; they arrive together when the broker comes back.  All were
# received within moments, so durations by receipt say nothing: the run flashed for
# 3 s and booted for 2 s, as emitted.  Asking for receipt is answered with a warning.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
start agent poolscope-agent --no-samples -n farm1 || exit 1
while read -r when name; do
	check "farm1 emits $name" poolscope-emit run "$name" --run 7 --ts "$(at "$when")"
done <<-'END'
	100 flash_start
	103 flash_end
	103 boot_start
	105 boot_end
END
start broker poolscope-broker || exit 1
check "the broker is back" poolscope-emit farm back --wait stored
wait_until indexed 30 || fail "... and all is indexed"

answer "flash and boot took their time" "flash,3
boot,2" steps step,seconds poolscope-stats deltas --format csv
check_text "... without a warning" "" "$(cat "$TMP/err")"
answer "so say the groups" "flash,event_emit,3.0
boot,event_emit,2.0" sh -c '
	poolscope-stats groups --table steps --format csv >"$0" &&
	/usr/bin/python3 -c "import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row[\"mean\"] and (row[\"time\"], row[\"of\"]) == (\"event_emit\", \"per_iteration\"):
        print(row[\"phase\"], row[\"time\"], row[\"mean\"], sep=\",\")" "$0"' "$TMP/groups"

check "the pages are drawn" poolscope-plot testrun --no-png -q -o "$TMP/drawn"
check_text "... with the seconds as emitted" "3 2" \
	"$(sed -n 2p "$TMP/drawn"/*-0001.dat | cut -d' ' -f6,7)"

for what in deltas groups; do
	check "$what by receipt are a choice" poolscope-stats $what --time receive
	check_printed "... that is called what it is" "received"
	check_printed "... and not credible" "2 of 2.*not credible.*--time emit"
done
check "so it is in pictures" poolscope-plot testrun --time receive --no-png -o "$TMP/drawn"
check_printed "... with the same warning" "2 of 2.*not credible"
