#!/bin/sh
# Batches that are well formed and harmful: bombs, clocks, replays, and more
# names than anybody needs (NAMES, PARTITIONS: how many).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=ipc://$DIR/run/intake.ipc
reader=ipc://$DIR/run/reader.ipc
batches() {
	_name=$1
	shift
	check "$_name" env SLOW="$SLOW" /usr/bin/python3 \
		"$ROOT/tests/attack/batches.py" "$@"
	sed 's/^/# /' "$TMP/out"
}

check "an aggregator" start aggregator poolscope-aggregator --sessions-per-hour 0 || exit 1
batches "bodies that claim what they do not have are rejected batches" \
	bombs "$listener" "$(pid aggregator)" "$reader"
batches "so are those that would not end when they are unpacked" \
	packed "$listener" "$(pid aggregator)" "$reader"
batches "times and numbers at the edges do no harm" clocks "$listener" "$reader"
batches "replayed frames change nothing" replay "$listener" "$reader"
batches "a node with ever new names gets its share of them" \
	names "$listener" "$reader" "${NAMES:-20000}" "$SEED"
batches "a sender with ever new partitions stops nobody" \
	partitions "$listener" "$reader" "${PARTITIONS:-2000}"
check "what is in the store can be read" \
	poolscope-dump -p 'acct$clocks' --format jsonl -o "$TMP/clocks"
check_status 3 "... and listed, with what was refused and why" poolscope-stats status -v
check_printed "... of many kinds" "aggregator:refused"
stop aggregator
check_text "the aggregator ends as it should" 0 "$STATUS"
check "and its store is whole" poolscope-admin verify
