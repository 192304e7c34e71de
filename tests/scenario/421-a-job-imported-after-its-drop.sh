#!/bin/sh
# The profile of a Scanner job is imported, its pool dropped as a mistake, and imported again: all its
# intervals are there again.  Twice, because the second drop finds the session of the second import.
# Equal intervals of a job are several, so how many there are is what was there the first time.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

job=$ROOT/tests/golden/scanner/s01_one_worker/db
spans() {
	wait_until indexed 30 || return
	poolscope-dump -q -p 'acct$job' --kind span --format jsonl | sort >"$TMP/spans"
	wc -l <"$TMP/spans"
}

aggregate
start broker poolscope-broker || exit 1
check "a job is imported" poolscope-import scanner -p 'acct$job' --job 0 "$job"
first=$(spans)
check "it has intervals" test "$first" -gt 10
for round in 1 2; do
	check "its pool is dropped ($round)" poolscope-partitions drop --yes 'acct$job'
	check_text "... nothing is left" 0 "$(spans)"
	check "the same import" poolscope-import scanner -p 'acct$job' --job 0 "$job"
	check_text "... has all of it" "$first" "$(spans)"
done
check "once more" poolscope-import scanner -p 'acct$job' --job 0 "$job"
check_text "... changes nothing" "$first" "$(spans)"
