#!/bin/sh
# poolscope-admin restore is killed at many moments, and the same command is given
# again: it succeeds, the store has the records of the backup, and the store that it
# replaced is next to it, whole.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"

# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$pool'
export POOLSCOPE_PARTITION="$PARTITION"
events() {
	/usr/bin/python3 "$ROOT/tests/fault/damage.py" records "$1" "$2" |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$PARTITION"
}
lines() {
	poolscope-dump -q --kind event --store "$1" | wc -l
}
start aggregator poolscope-aggregator || exit 1
check "records are stored" events 0 1
check "... and indexed" wait_until indexed 30
check "a backup is made" poolscope-admin backup "$TMP/backup"
check "more records are stored" events 1 2
check "... and indexed" wait_until indexed 30
stop aggregator
check_text "the store has both hours" 1280 "$(lines "$DIR/store")"

# restored NAME STORE OPTIONS...: as it must be after a restore that succeeded.
restored() {
	check_text "$1: the records of the backup" 640 "$(lines "$2")"
	check "... and nothing is left over" test ! -e "$2.restoring"
}
# The calls that change names or files are where a kill matters: strace stops the
# process at the N-th of them.
calls=unlink,unlinkat,rename,renameat,renameat2,mkdir,fsync,fdatasync,openat
rounds=$((${ROUNDS:-300} / 15))
total=$(
	cp -r "$DIR/store" "$TMP/count"
	strace -f -o "$TMP/trace" -e trace=$calls \
		poolscope-admin restore "$TMP/backup" --set-aside --store "$TMP/count" >/dev/null 2>&1
	wc -l <"$TMP/trace"
)
check "a restore makes calls" test "$total" -gt 20
round=0
while [ "$round" -lt "$rounds" ]; do
	at=$((total - round * total / rounds))
	for aside in --set-aside ""; do
		rm -rf "$TMP"/s "$TMP"/s.*
		[ -z "$aside" ] || cp -r "$DIR/store" "$TMP/s"
		# shellcheck disable=SC2086 # no option at all
		strace -f -o /dev/null -e trace=$calls -e inject=$calls:signal=KILL:when=$at \
			poolscope-admin restore "$TMP/backup" $aside --store "$TMP/s" >/dev/null 2>&1
		# shellcheck disable=SC2086
		check "killed at call $at of $total: again" \
			poolscope-admin restore "$TMP/backup" $aside --store "$TMP/s"
		restored "call $at $aside" "$TMP/s"
		[ -z "$aside" ] || check_text "call $at: the replaced store is whole" 1280 "$(lines "$TMP/s.aside-1")"
	done
	round=$((round + 1))
done
