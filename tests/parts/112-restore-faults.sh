#!/bin/sh
# A store of some partitions of an archive, or of a part of its time; and of an
# archive whose replicas lack rows, are frozen or away: it is right, or there is
# none.  A replica that is alone and has lost rows is noticed by the counts.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
{ archive_cluster && archive_start; } || exit 1

# restore [OPTION...] STORE: of the archive pool.
restore() {
	poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}

# dump STORE PARTITION [OPTION...]
dump() {
	_store=$1
	shift
	poolscope-dump -q --store "$_store" --format jsonl -p "$@"
}
everything() {
	for _p in 'a$first' 'a$second' 'b$other'; do
		dump "$1" "$_p" --kind event --kind span --kind entity --kind gap --kind phase || return 1
	done
}

# same NAME STORE: all of it is as in the store that was archived.
same() {
	everything "$2" >"$TMP/again"
	check "$1: all is as it was" cmp "$TMP/whole" "$TMP/again"
	check "$1: every row is right" poolscope-admin verify --store "$2"
	rm -rf "$2"
}

# Of each node of a partition a phase at the beginning of each of ten hours, from
# 2023-11-14T22:00:00Z on: 2 * 10 * 20 events, 200 phases.
for partition in 'a$first' 'a$second' 'b$other'; do
	python3 -c 'import json
for hour in range(10):
    for node in range(20):
        for at, name in (10, "start"), (15, "end"):
            print(json.dumps({"ts": "%d.25" % (1699999200 + hour * 3600 + at), "source": "nodeprep",
                "event": name, "node": "n%d" % node, "message": ""}))' >"$TMP/emits"
	check "events of $partition are imported" poolscope-import emits -p "$partition" "$TMP/emits"
done
check "they are archived" settled
stop broker
stop aggregator
everything "$DIR/store" >"$TMP/whole"
check_text "the store has them" 400 "$(dump "$DIR/store" 'a$first' --kind event | wc -l)"
check "... and their phases" test "$(dump "$DIR/store" 'a$first' --kind phase | wc -l)" -ge 200

# ---- a part of it ----
check "partitions of a pattern are restored" restore -p 'a$*' "$TMP/some"
check_text "... those" 'a$first a$second' "$(poolscope-partitions list -q --store "$TMP/some" |
	sed -n 's/^\([ab]\$[a-z]*\) .*/\1/p' | paste -sd' ')"
dump "$DIR/store" 'a$second' >"$TMP/one"
dump "$TMP/some" 'a$second' >"$TMP/two"
check "... as they were" cmp "$TMP/one" "$TMP/two"
check "... each row is right" poolscope-admin verify --store "$TMP/some"
check_status 1 "a pattern that none has is an error" restore -p 'c$*' "$TMP/none"
check "... and no store is left" test ! -e "$TMP/none" -a ! -e "$TMP/none.restoring"

check "records since a time are restored" restore --since 2023-11-15T05:00:00Z "$TMP/late"
check_text "... three of ten hours" 120 "$(dump "$TMP/late" 'b$other' --kind event | wc -l)"
dump "$DIR/store" 'b$other' --kind event --from 2023-11-15T05:00:00Z >"$TMP/one"
dump "$TMP/late" 'b$other' --kind event >"$TMP/two"
check "... as they were" cmp "$TMP/one" "$TMP/two"
dump "$DIR/store" 'b$other' --kind phase >"$TMP/one"
dump "$TMP/late" 'b$other' --kind phase >"$TMP/two"
check "... and the phases of all times" cmp "$TMP/one" "$TMP/two"

# ---- replicas that are frozen ----
for n in 1 4; do
	kill -STOP "$(pid ch$n)"
	began=$(date +%s)
	check "a store is made while replica $n is frozen" restore "$TMP/frozen"
	took=$(($(date +%s) - began))
	check "... in bounded time ($took s)" test "$took" -lt $((90 * SLOW))
	kill -CONT "$(pid ch$n)"
	same "replica $n is frozen" "$TMP/frozen"
done

# ---- replicas that lack rows ----
# lose N FROM TABLE: replica N loses its parts of a table, and FROM sends none.
lose() {
	ask "$2" "SYSTEM STOP REPLICATED SENDS pool.$3" >"$TMP/asked"
	check_text "replica $2 sends no parts of $3" "" "$(cat "$TMP/asked")"
	stop "ch$1" KILL
	find "$TMP/ch$1/data/data/pool/$3" -mindepth 1 -maxdepth 1 -type d \
		! -name detached -exec rm -r {} +
	cluster_serve "$1" || exit 1
}
rows() {
	ask "$1" "SELECT count() FROM pool.$2"
}
before=$(rows 2 events)
lose 2 1 events
check_text "a replica lacks all events" 0 "$(rows 2 events)"
check_text "... which the other one has" "$before" "$(rows 1 events)"
check "a store is made without them" restore "$TMP/lack"
same "a replica lacks events" "$TMP/lack"

# The first of a shard, which is asked first.
before=$(rows 3 phases)
lose 3 4 phases
check_text "the first replica of a shard lacks all phases" 0 "$(rows 3 phases)"
check "... which it had" test "$before" -gt 0
lose 3 4 sums
lose 3 4 events
check "a store is made without them" restore "$TMP/lack"
same "the first replica lacks phases" "$TMP/lack"

# ---- the only replica that answers lacks rows ----
# Both shards have one that lacks all events, and one that has all; and the phases
# of shard 2 are on one of them.
nothing_left() {
	check "... and nothing is left" test ! -e "$TMP/half" -a ! -e "$TMP/half.restoring"
}
there() {
	poolscope-dump -q --connect "$CLUSTER/pool" --archive-password "$TMP/writer" \
		-p 'a$first' --kind event -o "$TMP/there"
}
stop ch1 KILL
check_status 1 "without events there is no store" restore "$TMP/half"
check_printed "... which it explains" "shard 1: replica r2 has 0 of [0-9]* committed rows \
of table events, hour 2023-11-14T22"
nothing_left
mkdir -p "$TMP/half"
check_status 1 "... nor in a directory that is there" restore "$TMP/half/one/two/"
check "... which stays, without what was made in it" rmdir "$TMP/half"
check_status 1 "there is no answer either" there
check_printed "... with the same reason" "shard 1: replica r2 has 0 of [0-9]* committed rows of table events"
check "it can be asked for what is there" restore --incomplete --format json "$TMP/part"
check_json "... which says how many events of three times 400 are lacking" "True 1200" \
	"'%s %d' % (a['notes'][0]['count'] > 0, a['notes'][0]['count'] + sum(r['events'] for r in rows))"
check_printed "... with a warning" "only [0-9]* of 400 events of a.first are there"
check_printed "... and what has lost them" "replica r2 has 0 of [0-9]* committed rows of table events"
check "... which has less" test "$(dump "$TMP/part" 'a$first' --kind event | wc -l)" -lt 400
check "... and is a store" poolscope-admin verify --store "$TMP/part"
cluster_serve 1 || exit 1
check "the replica gets them" wait_until 'complete 2 1' 60

# Part of them, of one day.
stop ch1 KILL
stop ch2 KILL
find "$TMP/ch2/data/data/pool/events" -mindepth 1 -maxdepth 1 -name '19675_*' -exec rm -r {} +
cluster_serve 2 || exit 1
check_status 1 "without some events there is no store" restore "$TMP/half"
check_printed "... which it explains" "replica r2 has 0 of [0-9]* committed rows of table events, hour 2023-11-14T22"
nothing_left
check "later ones can be restored" restore --since 2023-11-15T05:00:00Z "$TMP/later"
check_text "... all three hours" 120 "$(dump "$TMP/later" 'b$other' --kind event | wc -l)"
cluster_serve 1 || exit 1
check "the replica gets them" wait_until 'complete 2 1' 60

stop ch4 KILL
check_status 1 "without phases there is no store" restore "$TMP/half"
check_printed "... which it explains" "replica r3 has 0 of [0-9]* committed rows of table \(sums\|events\)"
nothing_left
check_status 1 "there is no answer either" there
check_printed "... which is explained" "shard 2: replica r3 has 0 of [0-9]* committed rows of table events"
cluster_serve 4 || exit 1
check "the replica gets them" wait_until 'complete 3 4' 60

# One that has everything is enough.
stop ch1 KILL
stop ch4 KILL
check "of complete replicas alone a store is made" restore "$TMP/alone"
same "one replica of each shard" "$TMP/alone"
check "... and an answer" there
dump "$DIR/store" 'a$first' --kind event >"$TMP/one"
check "... which is whole" cmp "$TMP/one" "$TMP/there"
cluster_serve 4 || exit 1

# ---- no replica of a shard ----
stop ch3 KILL
stop ch4 KILL
check_status 1 "without a shard there is no store" restore "$TMP/half"
check_printed "... which it prints" "shard 2"
nothing_left
