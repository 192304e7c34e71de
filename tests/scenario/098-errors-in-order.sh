#!/bin/sh
# Of twelve boards the third failed its only run; 1 to 12 are in the order in which people
# count, the one with errors first: 3, 1, 2, 4 ... 12, not 1, 10, 11, 12, 2.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
seq 12 | awk '{
	print "event", 100 * $1, "farm run:request run=" $1
	print "event", 100 * $1 + 50, "farm run:publish run=" $1
	print "entity farm run", $1, "run=" $1, "device_group=board-" $1, ($1 == 3 ? "error=broken" : "")
}' | records
check "a picture of errors" poolscope-plot testrun --view errors --no-png -o "$TMP/out.d"
check_text "the greatest first, then as people count" "3 1 2 4 5 6 7 8 9 10 11 12" \
	"$(sed -n 's/^board-\([0-9]*\) .*/\1/p' "$TMP/out.d/acct-pool-testrun-errors.dat" | xargs)"
