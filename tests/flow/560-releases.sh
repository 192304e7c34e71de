#!/bin/sh
# What a release wrote is read by those that come.  Of each folder in tests/golden/releases:
# the store and the backup answer what the story's answers are by hand, also after they were
# compacted and rebuilt; today's agent delivers the spool, and an aggregator takes the frames
# of that agent; queries of those readers are answered, and frames of both directions are
# printed with all that they had; and no name that people or programs use is gone.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"

releases() {
	py "$ROOT/tests/flow/releases.py" "$@"
}
unpack() {
	mkdir "$TMP/$1"
	tar -xJpf "$release/$1.tar.xz" --no-same-owner -C "$TMP/$1"
}
dump() {
	poolscope-dump -q --kind event --kind sample --kind span --kind entity --kind gap --kind rejected \
		--kind phase --kind run "$@"
}
# events: their names, of what runs.
events() {
	poolscope-dump -q --kind event --format csv | /usr/bin/python3 -c 'import csv, sys
print(*sorted("%s@%s" % (row["name"], int(row["time_ns"]) // 10**9) for row in csv.DictReader(sys.stdin)))'
}

kept_store() {
	unpack store
	store=$TMP/store/store
	story_answers "its store" --store "$store"
	dump --store "$store" >"$TMP/now"
	check "its records are printed as then" releases within "$release/dump.jsonl" "$TMP/now"
	check "it is right" poolscope-admin verify --store "$store"
	aggregate --store "$store" --models "$release/story/models"
	story_answers "today's aggregator has it"
	stop aggregator
	check "it is compacted" poolscope-admin compact --store "$store" --models "$release/story/models"
	story_answers "compacted" --store "$store"
	check "it is rebuilt" poolscope-admin rebuild --store "$store" --models "$release/story/models"
	story_answers "rebuilt" --store "$store"
	check "it is right after that" poolscope-admin verify --store "$store"
}

kept_backup() {
	unpack backup
	check "its backup is restored" poolscope-admin restore "$TMP/backup/backup" --store "$TMP/restored"
	# restore notes for each partition what may have been lost since.
	dump --store "$TMP/restored" | grep -v since-backup >"$TMP/now"
	check "... as it was" releases within "$release/dump.jsonl" "$TMP/now"
	rm -rf "$TMP/restored"
}

# kept_spool NAME EVENTS: what is delivered of it.
kept_spool() {
	rm -rf "$DIR/spool" "$DIR/store"
	cp -Rp "$TMP/spool/$1" "$DIR/spool"
	aggregate
	start broker poolscope-broker || exit 1
	check "today's agent has its spool ($1)" start agent poolscope-agent --no-samples --no-clock -p "$PARTITION" -n n1
	check "... and sends what is new" poolscope-emit --ts 1700000300 work new --wait stored --timeout 30s
	wait_until indexed
	check_text "... behind what was there" "$2" "$(events)"
	check_text "... nothing is lost" 0 "$(poolscope-dump -q --kind gap --format jsonl | wc -l)"
	stop agent
	stop broker
	stop aggregator
	rm -rf "$DIR/spool"
}

kept_frames() {
	unpack frames
	frames=$TMP/frames/frames
	for each in uplink query local; do
		check "frames are read: $each" poolscope-wire decode --format json "$frames/$each"
		cp "$TMP/out" "$TMP/now"
		check "... with all that they had" releases within "$frames/$each.jsonl" "$TMP/now"
	done
	rm -rf "$DIR/store"
	aggregate --accept 'acct*'
	check "an agent of that release sends" releases replay "$frames/uplink" "ipc://$DIR/run/intake.ipc" hello batch gap bye
	check_text "... and is understood" "batch ack
bye ack
gap ack
hello nack
hello welcome" "$(LC_ALL=C sort -u "$TMP/out")"
	mkdir -p "$DIR/fallback/new"
	cp "$frames/fallback" "$DIR/fallback/new/00000000000000000000000000000001"
	start broker poolscope-broker || exit 1
	start agent poolscope-agent --no-samples --no-clock -p "$PARTITION" -n n1 || exit 1
	check "its file of the fallback queue is taken" wait_until 'events | grep -q fallback'
	check "a program of that release submits" /usr/bin/python3 -c 'import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as to:
    to.settimeout(30)
    to.connect(sys.argv[1])
    to.send(open(sys.argv[2], "rb").read())
    assert to.recv(1 << 16)[5] == 4, "no ack"' "$DIR/run/agent.sock" "$frames/fallback"
	# The first agent sent it, too; each accepts the event, which has a uuid, once.
	check "... both are one event" wait_until '[ "$(events)" = "after@1700000200 before@1700000200 fallback@1700000100 fallback@1700000100 start@1700000100" ]'
	check "a reader of that release asks" releases replay "$frames/query" "ipc://$DIR/run/reader.ipc" select stats status
	check_text "... and is answered" "select page
stats page
status page" "$(sort -u "$TMP/out")"
	stop agent
	stop broker
	stop aggregator
	rm -rf "$DIR/spool" "$DIR/fallback"
}

for release in "$ROOT"/tests/golden/releases/[0-9]*; do
	echo "# ${release##*/}"
	. "$release/story/answers.sh"
	kept_store
	kept_backup
	unpack spool
	kept_spool whole "new@1700000300 one@1700000100 three@1700000100 two@1700000100"
	kept_spool cut "new@1700000300 one@1700000100 two@1700000100"
	kept_frames
	check "routes, parameters, columns, Python and C have their names" releases lost "$release/names"
	rm -rf "$TMP/store" "$TMP/backup" "$TMP/spool" "$TMP/frames"
done

# ---- newer than this program: refused, and left as it is
tar -xJpf "$release/backup.tar.xz" --no-same-owner -C "$TMP"
format=$(sed -n 's/^format //p' "$TMP/backup/manifest")
sed -i "s/^format .*/format $((format + 1))/" "$TMP/backup/manifest"
find "$TMP/backup" -type f -exec sha256sum {} + | sort >"$TMP/before"
check_status 1 "a backup of a newer format is refused" poolscope-admin restore "$TMP/backup" --store "$TMP/restored"
check_printed "... with both numbers" "has format $((format + 1)); this program supports format $format"
find "$TMP/backup" -type f -exec sha256sum {} + | sort >"$TMP/after"
check "... and left as it is" cmp "$TMP/before" "$TMP/after"
check_text "... and nothing is made of it" "" "$(ls -A "$TMP/restored")"

sed 's/^routes:/& GET_\/v1\/never/' "$release/names" >"$TMP/more"
check_status 1 "a name that is gone" releases lost "$TMP/more"
check_printed "... is reported" "^routes: a release had GET_/v1/never, and people use it: keep the name"
