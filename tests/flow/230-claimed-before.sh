#!/bin/sh
# Whoever has the rows knows the session of their import beforehand.  Whatever was
# sent under it, by another key, by another node, or by the same (another version),
# all rows of the import are there afterwards, once; and it says "already there" of
# its own rows alone.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
intake=tcp://127.0.0.1:25720
k=$DIR/keys

# rows PARTITION: 50 events.
rows() {
	seq 50 | awk -v p="$1" '{
		printf "{\"PartitionKey\":\"%s\",\"RowKey\":\"%d\",\"Event\":\"work:start\",\"NodeId\":\"n%d\"}\n", p, 1700000000 + $1, $1 }'
}
# forge KEY NODE SESSION PARTITION WHAT: 20 batches, a gap of 50, or a hello.
forge() {
	SLOW=$SLOW PARTITION=$4 /usr/bin/python3 tests/flow/forge.py "$intake" "$k/$1.key" "$2" "$3" "$5"
}
import() { poolscope-import --broker "$intake" --key "$k/$1.key" -n "$2" cascade "$3"; }
# is_there PARTITION ROWS: that many, each once.
is_there() {
	wait_until indexed 20
	check_text "... all rows are there, once" "$2 $2" "$(poolscope-dump -q --kind event -p "$1" --format jsonl |
		/usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
rows = [r["node"] for r in rows if r["source"] == "work"]
print(len(rows), len(set(rows)))')"
}
{
	poolscope-keys new server --role server
	poolscope-keys new owner -p 'acct$*'
	poolscope-keys new other -p 'acct$*'
} >/dev/null || exit 1
start aggregator poolscope-aggregator --listen "$intake" --pid-file "$DIR/run/aggregator.pid" || exit 1

# In an instance of his own a stranger learns the sessions.
for what in batches gap hello; do
	for who in 'other n1' 'owner n1' 'owner n7'; do
		echo "acct\$$what-$(echo "$who" | tr -d ' ')"
	done
done >"$TMP/partitions"
mkdir -p "$TMP/his/run"
check "an instance of a stranger" start his poolscope-aggregator --dir "$TMP/his" \
	--listen "ipc://$TMP/his/run/broker.ipc" --reader "ipc://$TMP/his/run/reader.ipc"
while read -r p; do
	rows "$p" >"$TMP/$p.jsonl"
	poolscope-import -q --dir "$TMP/his" cascade "$TMP/$p.jsonl" || fail "an import of $p"
done <"$TMP/partitions"
wait_until 'POOLSCOPE_DIR=$TMP/his indexed' 20

for what in batches gap hello; do
	for who in 'other n1' 'owner n1' 'owner n7'; do
		p="acct\$$what-$(echo "$who" | tr -d ' ')"
		session=$(poolscope-dump -q --dir "$TMP/his" -p "$p" --format jsonl | sed -n 's/.*"session": "\([0-9a-f]*\)".*/\1/p' | sort -u)
		key=${who% *} node=${who#* }
		check "$what of key $key, node $node, under the session of an import" \
			forge "$key" "$node" "$session" "$p" "$what"
		check "... do not stand for its rows" import owner n7 "$TMP/$p.jsonl"
		check_printed "... it imports them" "^50 events, 0 bad lines$"
		check_printed "... and says that the session was used" "under the session of these rows"
		is_there "$p" 50
		check "... a repetition" import owner n7 "$TMP/$p.jsonl"
		check_printed "... finds its own" "^50 events, 0 bad lines, 50 already there$"
		is_there "$p" 50
	done
done
check_text "the gap and the forged batches are not the import's" 0 \
	"$(poolscope-dump -q -p 'acct$hello-othern1' --kind gap --format jsonl | wc -l)"

# Two keys, or hosts, import the same file: rows are there once, and no answer says
# what is not so.
rows 'acct$twice' >"$TMP/twice.jsonl"
check "an import" import owner n1 "$TMP/twice.jsonl"
check "... of another host" import owner n2 "$TMP/twice.jsonl"
check "... with another key" import other n1 "$TMP/twice.jsonl"
is_there 'acct$twice' 50
check "after a rotation" poolscope-keys rotate owner
check "... it is the same owner" import owner n1 "$TMP/twice.jsonl"
check_printed "... who has them already" "50 already there"

stop his
stop aggregator
check "the store is whole" poolscope-admin verify
