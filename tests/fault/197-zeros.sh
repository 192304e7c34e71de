#!/bin/sh
# Commands that delete many rows, and one that reads to and fro, on stores of which one
# page is zeros: none ends by a signal or hangs.  tests/fault/damage.py does the work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"

# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$pool'
export POOLSCOPE_PARTITION="$PARTITION"
mkdir "$TMP/models"
cat >"$TMP/models/work.conf" <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
END
head_again() {
	start aggregator poolscope-aggregator --compact-after 1d --models "$TMP/models" || exit 1
}
head_again
# Four hours of 40 nodes: the first two are compacted, the others are not.
events() {
	/usr/bin/python3 "$ROOT/tests/fault/damage.py" records "$1" "$2" |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$PARTITION"
}
check "records are stored" events 0 2
check "... and indexed" wait_until indexed 30
stop aggregator
check "... and compacted" timeout 60 poolscope-admin compact --store "$DIR/store" --models "$TMP/models"
head_again
check "more records are stored" events 2 4
check "... and indexed" wait_until indexed 30
stop aggregator
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/tests/fault/damage.py" zero "$DIR/store" "$TMP"
STATUS=$?
check "all of them were treated well" test "$STATUS" -eq 0
