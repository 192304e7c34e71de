#!/bin/sh
# The aggregator among real sockets: what is stored and answered, crashes,
# a full store, what it refuses, and the verbs of its operator.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
listener=ipc://$DIR/run/intake.ipc
reader=ipc://$DIR/run/reader.ipc
store=$DIR/store
sender() {
	SLOW=$SLOW /usr/bin/python3 "$ROOT/tests/flow/sender.py" "$@"
}

check "it starts and says so on --ready-fd" \
	start aggregator poolscope-aggregator
check_text "its sockets are for their owner, without --socket-group" "600 600" \
	"$(stat -c %a "$DIR/run/intake.ipc" "$DIR/run/reader.ipc" | xargs)"
check_text "its store is for the owner" 700 "$(stat -c %a "$store/journal")"

check "batches are stored by the rules of delivery" sender deliver "$listener"
check "garbage is answered and does no harm" sender garbage "$listener" "$SEED"
check "readers' garbage is answered and harms nobody" \
	sender vandal_reader "$reader" "$SEED"
check "what was acknowledged reaches the tables" \
	sender status "$reader" indexing_lag=0 rejected_batches=1 gaps=1 repeated=1 batches=8 \
	messages_malformed=1
check "readers get each event once, page by page" sender select "$reader" 7

check_status 1 "a second one on the same store is refused" \
	timeout 60 poolscope-aggregator --listen "ipc://$TMP/a" --reader "ipc://$TMP/b"
check_printed "... and says who has it" "is in use by process $(pid aggregator)\$"
check_status 1 "compacting a store in use is refused" \
	poolscope-admin vacuum
check_status 1 "so is rebuilding it" poolscope-admin rebuild

check "a sender of 50 batches" sender first "$listener" fifty 50
stop aggregator KILL
check "killed, it starts again" start aggregator poolscope-aggregator
check "and knows what it acknowledged" sender expect "$listener" fifty 50

i=0
while [ $i -lt 5 ]; do
	i=$((i + 1))
	# The process itself, and not a shell that would leave it behind.
	(export SLOW && exec /usr/bin/python3 "$ROOT/tests/flow/sender.py" \
		stream "$listener" "stream-$i" "$TMP/ledger") 2>"$TMP/stream.err" &
	streaming=$!
	wait_until "[ \$(wc -l <'$TMP/ledger') -gt 20 ]"
	stop aggregator KILL
	kill "$streaming" 2>/dev/null
	wait "$streaming" 2>/dev/null
	start aggregator poolscope-aggregator
	check "killed in a stream ($i), it has all it acknowledged" \
		sender judge "$listener" "stream-$i" "$TMP/ledger"
	rm -f "$TMP/ledger"
done

check "a backup is made while it runs" \
	poolscope-admin backup "$TMP/backup"
check "... with a manifest" grep -q "^generation [0-9a-f]\{16\}\$" \
	"$TMP/backup/manifest"
check "the backup is sound" poolscope-admin verify --store "$TMP/backup"
check_status 1 "a backup never overwrites" \
	poolscope-admin backup "$TMP/backup"
check_printed "... the message is that it is complete" \
	"backup is a complete backup already .*manifest says when.*name a new directory"
mkdir "$TMP/other-files"
check_status 1 "... nor other files" poolscope-admin backup "$TMP/other-files"
check_printed "... it says what to do" \
	"other-files exists and is not a backup: name a directory that does not exist"
check "a running store can be verified" poolscope-admin verify

stop aggregator
check_text "TERM ends it with 0" 0 "$STATUS"
check_text "and leaves no socket" "" "$(ls "$DIR/run")"
check "every row is as proto/store.md says" sender rows "$store"
poolscope-dump -p acct\$flow --store "$store" --format jsonl >"$TMP/before"
check "packing keeps everything" poolscope-admin compact
check "the packed store is sound" poolscope-admin verify
poolscope-dump -p acct\$flow --store "$store" --format jsonl >"$TMP/after"
check "packed records read as before" cmp "$TMP/before" "$TMP/after"
check "there are such" test -s "$TMP/after"
check "compacting keeps everything" poolscope-admin vacuum
check "a rebuild derives the phases again" poolscope-admin rebuild
check "the compacted store is sound" poolscope-admin verify
check "the compacted store goes on" start aggregator poolscope-aggregator
check "and knows what it acknowledged" sender expect "$listener" fifty 50
stop aggregator

check "the backup starts as a store" start aggregator poolscope-aggregator \
	--store "$TMP/backup"
check "and knows what it acknowledged" sender expect "$listener" fifty 50
stop aggregator

check_status 1 "a path that is too long is not cut" poolscope-admin \
	verify --store "$TMP/$(printf '%0250d' 0 | sed 's|0|./|g')backup"
check_printed "... but refused" "too long"

sender flip "$store"
check_status 3 "a flipped bit is found" poolscope-admin verify
check_printed "... and the message says so" "checksum"

sender other_format "$TMP/backup"
cp "$TMP/backup/journal/data.mdb" "$TMP/before"
check_status 1 "a store of another format is refused" \
	timeout 60 poolscope-aggregator --store "$TMP/backup"
check_printed "... by name" "has format 11; this program supports format 10"
check "... and untouched" cmp "$TMP/before" "$TMP/backup/journal/data.mdb"

check "a small store" start aggregator poolscope-aggregator \
	--store "$TMP/small" --map-bytes 2MiB
check "says busy when it is full" sender full "$listener" full
check "and says so to readers" sender status "$reader" full=1
stop aggregator
check "a full store can be verified" \
	poolscope-admin verify --store "$TMP/small"
check "with more room" start aggregator poolscope-aggregator \
	--store "$TMP/small" --map-bytes 64MiB
check "it goes on" sender first "$listener" other 3
check "and is not full any more" sender status "$reader" full=0 indexing_lag=0
stop aggregator

check_status 2 "an unknown option is wrong usage" \
	poolscope-aggregator --no-such-option
check_status 1 "a store that cannot be made is an error" \
	timeout 60 poolscope-aggregator --store /proc/none
check_status 1 "a listener to the network needs keys or --insecure" \
	timeout 60 poolscope-aggregator --store "$TMP/small" --listen tcp://0.0.0.0:0
check_status 1 "models that are wrong are an error" \
	timeout 60 poolscope-aggregator --store "$TMP/small" --models "$TMP/none"
