#!/bin/sh
# A store on a disk of its own, of 48 MiB, which something else fills.  As long as the store can grow by a
# fifth of what it has nothing is reported; when it can grow by a fifteenth, status, nodes and metrics
# say so, and no more when there is room again.  Room are also the pages that are free in its files.
# Needs root for a small file system of its own.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

DISK=$TMP/disk
mkdir "$DISK"
mount -t tmpfs -o size=48m tmpfs "$DISK" || exit 1
_code=0
trap '_code=$?; umount -l "$DISK"; (exit $_code); _end' EXIT
export POOLSCOPE_STORE="$DISK/store"
aggregate --map-bytes 1GiB
{
	seq 60000 | awk '{ print "event", -$1 / 100, "n" $1 % 50, "app:step", "text=a-text-that-differs-" $1 * 7919 }'
	for n in $(seq 0 49); do echo "event -1 n$n app:last"; done
} | records
stop aggregator
# A copy has no free pages.
check "a copy" poolscope-admin backup "$DISK/copy"
rm -r "$DISK/store"
export POOLSCOPE_STORE="$DISK/copy"
# counter OF NAME: of `status`.
counter() {
	poolscope status --format json | /usr/bin/python3 -c '
import json, sys
print(*[row["value"] for row in json.load(sys.stdin)["counters"] if [row["of"], row["counter"]] == sys.argv[1:]])' "$@"
}
free_bytes() {
	echo $(($(stat -f -c "%a * %S" "$DISK")))
}
# leave BYTES: fill the disk, so that the store can grow by about that many.
leave() {
	rm -f "$DISK/filler"
	head -c $(($(free_bytes) + INSIDE - $1)) /dev/zero >"$DISK/filler"
}
USED=$(($(counter store tables_bytes) + $(counter store journal_bytes)))
INSIDE=$(($(counter store:room room_bytes) - $(free_bytes)))
check "there is enough to judge" test $USED -gt $((4 << 20)) -a $INSIDE -ge 0 -a $INSIDE -lt $((USED / 15))
says() {
	poolscope status >"$TMP/status"
	poolscope nodes >"$TMP/nodes"
	poolscope stats metrics >"$TMP/metrics"
	check_text "$1: status" "$2" "$(grep -c "the store is nearly full; make room on its disk, or keep less: --retain" "$TMP/status")"
	check_text "... nodes" "$2" "$(grep -c "the store is nearly full; make room" "$TMP/nodes")"
	check_text "... metrics" "$2" "$(sed -n 's/^poolscope_store_nearly_full[^ ]* //p' "$TMP/metrics")"
}
leave $((USED / 5))
says "a fifth" 0
leave $((USED / 15))
check_text "the room is what is left" true "$(counter store:room room_bytes | awk -v of=$((USED / 15)) '{ print ($1 > of - 8192 && $1 < of + 8192) ? "true" : $1 " of " of }')"
says "a fifteenth" 1
check_status 3 "... which is a warning" poolscope status
rm "$DISK/filler"
says "room again" 0

# The map of the tables may be the limit that is near: 5 % more than what they have.
POOLSCOPE_MAP_BYTES=$(($(counter store tables_bytes) * 105 / 100 / 4096 * 4096))
export POOLSCOPE_MAP_BYTES
check_status 3 "with a map that is near" poolscope status
check_printed "... is reported" "the store is nearly full; the tables come near a limit: --map-bytes"
