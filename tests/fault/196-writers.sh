#!/bin/sh
# Tables with damaged keys, to which an aggregator goes on writing: no program ends by a
# signal, no line is lost without a word.  tests/fault/damaged_writer.py does the work.
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
# Three hours of 40 nodes, of which the first is compacted; then the third again, and two
# more.
events() {
	/usr/bin/python3 "$ROOT/tests/fault/damage.py" records "$1" "$2" |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$PARTITION"
}
head_again
check "records are stored" events 0 1
check "... and indexed" wait_until indexed 30
stop aggregator
check "... and compacted" timeout 60 poolscope-admin compact --store "$DIR/store" --models "$TMP/models"
head_again
check "more records are stored" events 1 3
check "... and indexed" wait_until indexed 30
stop aggregator
cp -r "$DIR/store/tables" "$TMP/before"
head_again
check "more records are stored" events 2 5
check "... and indexed" wait_until indexed 30
stop aggregator
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/tests/fault/damaged_writer.py" "$TMP/before" "$DIR/store" \
	"$TMP/models" "$TMP"
STATUS=$?
check "all of them were treated well" test "$STATUS" -eq 0
