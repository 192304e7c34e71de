#!/bin/sh
# Events that nobody has a model for arrive in random order, while the aggregator is killed
# again and again.  Its phases are those that phases_judge.py finds in the events: after
# that, after a restart, after a rebuild, after a rebuild that was killed, and in a backup.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "# seed $SEED"
mkdir "$TMP/none" "$TMP/parts"
judge() {
	/usr/bin/python3 "$ROOT/tests/flow/phases_judge.py" "$@"
}
same() {
	poolscope-dump -q --kind phase --format jsonl >"$TMP/dump" &&
		judge print <"$TMP/dump" >"$TMP/got" && diff "$TMP/wanted" "$TMP/got"
}
judge make "$SEED" "$TMP/parts"
judge judge "$TMP/parts" >"$TMP/wanted"
check "there is something to judge" test "$(awk '$4 != "-" && $5 != "-"' "$TMP/wanted" | wc -l)" -gt 20
for part in "$TMP"/parts/*; do
	aggregate --models "$TMP/none"
	send_records <"$part"
	stop aggregator KILL
done
aggregate --models "$TMP/none"
check "everything is indexed" wait_until indexed 60
check "the phases" same
stop aggregator
check "the store is consistent" poolscope-admin verify
poolscope-admin rebuild --models "$TMP/none" >"$TMP/rebuild.log" 2>&1 &
kill -9 $! 2>/dev/null
wait
aggregate --models "$TMP/none"
check "after a rebuild that was killed" wait_until same 60
stop aggregator
check "a rebuild" poolscope-admin rebuild --models "$TMP/none"
check "... is consistent" poolscope-admin verify
aggregate --models "$TMP/none"
check "... and the phases are the same" same
check "a backup" poolscope-admin backup "$TMP/copy"
stop aggregator
check "... has them" env POOLSCOPE_STORE="$TMP/copy" poolscope-admin verify --store "$TMP/copy"
poolscope-dump -q --store "$TMP/copy" --kind phase --format jsonl >"$TMP/dump"
judge print <"$TMP/dump" >"$TMP/got"
check "... all of them" diff "$TMP/wanted" "$TMP/got"
