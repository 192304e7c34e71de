#!/bin/sh
# Records of all kinds with random values, to an archive and back: what the archive
# has and what a restored store answers is what was sent, bit by bit, judged by a
# reader of the format Native and of pages that is not ours.  COUNT records.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
SEED=${SEED:-$(date +%s)}
COUNT=${COUNT:-1500}
echo "seed $SEED; repeat: SEED=$SEED COUNT=$COUNT make test T=parts/115"
{ archive_cluster && archive_start; } || exit 1

# values VERB ...: of this seed.
values() {
	_verb=$1
	shift
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/parts/archive_values.py "$_verb" "$SEED" "$COUNT" "$@"
}

# printed STORE TO: what dump prints of each partition.
printed() {
	values partitions | while IFS= read -r _p; do
		for _kind in event sample span gap rejected entity phase run; do
			poolscope-dump -q --store "$1" -p "$_p" --kind "$_kind" --format jsonl || exit 1
		done
	done >"$2"
}

check "records are sent" values send "ipc://$DIR/run/intake.ipc"
cat "$TMP/out"
check "... and committed" settled
check "the store answers with what was sent" values served "ipc://$DIR/run/reader.ipc"
cat "$TMP/out"
for pair in "$PORT1 $PORT3" "$PORT2 $PORT4"; do
	# shellcheck disable=SC2086 # two ports
	check "one replica of each shard has what was sent" wait_until \
		"values archived $TMP/writer pool $pair >$TMP/judged 2>&1" 20
	cat "$TMP/judged"
done
stop aggregator
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/copy"
check "it is right" poolscope-admin verify --store "$TMP/copy"
check "the first one is dumped" printed "$DIR/store" "$TMP/first"
check "the other one is dumped" printed "$TMP/copy" "$TMP/second"
check "... with the same result" cmp "$TMP/first" "$TMP/second"
check "... which is not nothing" test "$(wc -l <"$TMP/first")" -ge "$COUNT"
mkdir -p "$TMP/restored/run"
start restored poolscope-aggregator --dir "$TMP/restored" --store "$TMP/copy" || exit 1
check "the restored store answers with what was sent" values served "ipc://$TMP/restored/run/reader.ipc"
cat "$TMP/out"
