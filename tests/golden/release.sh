#!/bin/sh
# release - keep what this release writes, for those that come: one of each format, in
# tests/golden/releases/VERSION (the number is in proto/base/version.h).  Who makes a
# release runs it once, commits the folder, and never changes it again:
#
#   sh tests/golden/release.sh
#
# What is kept was made of the story in releases/story, which has fixed times and whose
# answers were worked out by hand:
#
#   store.tar.xz    a store: hours compacted and open, phases, test runs, a rejected batch
#   backup.tar.xz   a backup of it
#   spool.tar.xz    spools of an agent with batches that nobody has acknowledged: whole/,
#                   and cut/ in the middle of the last one
#   archive.tar.xz  the tables of an archive, each in ClickHouse's format Native
#   frames.tar.xz   frames of both directions: uplink, query, local, each with what this
#                   release prints of them; fallback, a file of that queue
#   dump.jsonl      the records of the store, as this release prints them
#   names           what people and programs call: routes, parameters, columns, Python, C
#   story/          models, records and answers, as they were then
#
# tests/flow/560-releases.sh and tests/parts/245-releases.sh read them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
version=$(poolscope --version | sed 's/.* //')
made=$ROOT/tests/golden/releases/$version
story=$ROOT/tests/golden/releases/story
kept=$TMP/kept
if [ -e "$made" ]; then
	fail "tests/golden/releases/$version exists: what was released does not change"
	exit 1
fi
mkdir -p "$kept"
cp -R "$story" "$kept/story"
# shellcheck source=tests/golden/releases/story/answers.sh
. "$story/answers.sh"

# pack NAME DIRECTORY FILE...: without what differs from one machine to the next.
pack() {
	_name=$1
	shift
	tar --owner 0 --group 0 --numeric-owner --sort name --exclude lock.mdb --exclude LOCK -cC "$@" |
		xz -9e >"$kept/$_name.tar.xz"
}
part() {
	send_records <"$story/$1.txt" || exit 1
	wait_until indexed 30 || exit 1
}

# ---- store, backup
aggregate --models "$story/models"
part sealed
stop aggregator
check "the first hour is compacted" poolscope-admin compact --models "$story/models"
aggregate --models "$story/models"
part open
check "a backup" poolscope-admin backup "$TMP/backup"
stop aggregator
check "the store is right" poolscope-admin verify
check "it has compacted and open hours" /usr/bin/python3 "$ROOT/tests/flow/releases.py" tables "$DIR/store" chunks row_blocks
story_answers "the store" --store "$DIR/store"
poolscope-dump -q --store "$DIR/store" --kind event --kind sample --kind span --kind entity \
	--kind gap --kind rejected --kind phase --kind run >"$kept/dump.jsonl"
pack store "$DIR" store
pack backup "$TMP" backup

# ---- spool: three commits; the last one is cut
rm -rf "$DIR/store"
start agent poolscope-agent --no-samples --no-clock -p "$PARTITION" -n n1 --drain 0s || exit 1
for name in one two three; do
	check "$name is in the spool" poolscope-emit --ts 1700000100 work "$name"
done
stop agent
mkdir "$TMP/spools"
cp -Rp "$DIR/spool" "$TMP/spools/whole"
cp -Rp "$DIR/spool" "$TMP/spools/cut"
check "its tail is cut" /usr/bin/python3 "$ROOT/tests/flow/releases.py" cut "$TMP/spools/cut"
pack spool "$TMP/spools" whole cut
rm -rf "$DIR/spool"

# ---- frames
capture() {
	start "$1" "$ROOT/tests/flow/capture.py" "ipc://$DIR/run/$1.ipc" "ipc://$DIR/run/$2.ipc" "$TMP/frames/$1"
}
uplinked() {
	start agent poolscope-agent --no-samples --no-clock -p "$PARTITION" -n n1 --broker "ipc://$DIR/run/uplink.ipc"
}
mkdir "$TMP/frames"
aggregate --models "$story/models" --accept 'acct*' --accept 'zeta*'
check "a file of the fallback queue" poolscope-emit --ts 1700000100 -p "$PARTITION" -n n1 work fallback
cp "$DIR"/fallback/new/* "$TMP/frames/fallback"
capture uplink intake || exit 1
capture query reader || exit 1
uplinked || exit 1
check "the agent and a client" /usr/bin/python3 "$ROOT/tests/flow/releases.py" put "$DIR/run/agent.sock" \
	"$TMP/frames/fallback" "$TMP/frames/local"
check "an event is delivered" poolscope-emit --ts 1700000100 work start --wait stored
check "one that nobody takes" poolscope-emit --ts 1700000100 -p 'other$pool' work start
check "... is answered" wait_until 'poolscope-wire decode "$TMP/frames/uplink" | grep -q "^offset.*nack"'
stop agent # with a bye
rm -rf "$DIR/spool"
stop uplink
start agent poolscope-agent --no-samples --no-clock -p "$PARTITION" -n n1 --broker "ipc://$DIR/run/uplink.ipc" || exit 1
for name in before flipped after; do
	check "$name is in the spool" poolscope-emit --ts 1700000200 work "$name"
done
check "a bit flips" /usr/bin/python3 "$ROOT/tests/flow/releases.py" flip "$DIR/spool" flipped
capture uplink intake || exit 1
check "its gap arrives" wait_until 'poolscope-dump -q --kind gap --format jsonl | grep -q damaged' 30
stop agent
wait_until indexed
asked="--connect ipc://$DIR/run/query.ipc"
# shellcheck disable=SC2086 # two words
for question in 'dump --kind event' 'stats phases' 'stats status' 'stats nodes'; do
	check "a reader: $question" poolscope-$question $asked
done
# shellcheck disable=SC2086
timeout 2 poolscope-dump --follow $asked >"$TMP/followed"
for each in 'uplink hello welcome batch ack nack gap bye' 'query select stats status follow page' 'local put ack'; do
	# shellcheck disable=SC2086
	check "the types of frames: $each" /usr/bin/python3 "$ROOT/tests/flow/releases.py" types "$TMP/frames/"$each
done
stop query
stop uplink
stop aggregator
for each in uplink query local; do
	check "the frames of $each are printed" poolscope-wire decode --format json "$TMP/frames/$each"
	cp "$TMP/out" "$TMP/frames/$each.jsonl"
done
pack frames "$TMP" frames

# ---- archive
need_python chdb chdb-core || exit 1
port=$(free_port)
serve front "$PARTS/chdb/bin/python" tests/parts/chdb_front.py "$port" "$TMP/engine"
answers "http://127.0.0.1:$port/ping" front || exit 1
url=clickhouse://127.0.0.1:$port/pool
ask() {
	curl -sS --fail-with-body -m 60 --data-binary "$1" "http://127.0.0.1:$port/"
}
rm -rf "$DIR/store"
check "the tables of an archive" poolscope-archive create --to "$url"
aggregate --archive "$url" --archive-after 200ms --models "$story/models"
part sealed
part open
check "all is archived" wait_until 'indexed && grep -q "\"archive_lag_ns\": 0[,}]" "$TMP/status"' 60
stop aggregator
check "the archive has the store" poolscope-archive verify --to "$url" --store "$DIR/store"
mkdir "$TMP/tables"
ask "SELECT name FROM system.tables WHERE database = 'pool' AND engine NOT LIKE '%View' ORDER BY name" >"$TMP/list"
while IFS= read -r table; do
	ask "SHOW CREATE TABLE pool.$table FORMAT TSVRaw" >"$TMP/tables/$table.sql"
	ask "SELECT * FROM pool.$table FORMAT Native" >"$TMP/tables/$table.native"
done <"$TMP/list"
check "all tables of it" test "$(wc -l <"$TMP/list")" -ge 20
pack archive "$TMP" tables

# ---- names
PYTHONPATH=$B/python /usr/bin/python3 "$ROOT/tests/flow/releases.py" names >"$kept/names" || fail "the names"

if [ "$FAILED" -eq 0 ]; then
	mv "$kept" "$made"
	du -sh "$made"
fi
