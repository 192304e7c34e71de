# damaged - what the tests with damaged stores begin with: an aggregator with one
# model, and hours of 40 nodes (tests/fault/damage.py).  The rest is tests/flow/lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"

# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$pool'
export POOLSCOPE_PARTITION="$PARTITION"
mkdir "$TMP/models"
cat >"$TMP/models/work.conf" <<-'END'
	run {
		attribute = "job"
		kind = "job"
		begun = "work:start"
		ended = "work:end"
	}
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
END

events() {
	/usr/bin/python3 "$ROOT/tests/fault/damage.py" records "$1" "$2" |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$PARTITION"
}

# store_hours FROM TO: these hours are in the store, and no aggregator runs.
store_hours() {
	start aggregator poolscope-aggregator --compact-after 1d --models "$TMP/models" || exit 1
	check "hours $1 to $2 are stored" events "$1" "$2"
	check "... and indexed" wait_until indexed 30
	stop aggregator
}

compact_hours() {
	check "... and compacted" timeout 60 poolscope-admin compact --store "$DIR/store" --models "$TMP/models"
}

# treat_well PROGRAM ARGUMENT...: damage stores in the ways of this program.
treat_well() {
	_program=$1
	shift
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/tests/fault/$_program" "$@"
	STATUS=$?
	check "all of them were treated well" test "$STATUS" -eq 0
}
