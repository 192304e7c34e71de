#!/bin/sh
# An operator does what deploy/clickhouse/operate.md says, word by word: a replica of an
# archive is lost, another does not start, then both of a shard are lost, then ZooKeeper's
# data; a password is rotated.
# Each time the head goes on, and the archive is its store.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$ROOT/tests/parts/archive.sh"
# shellcheck source=tests/parts/operate.sh
. "$ROOT/tests/parts/operate.sh"
archive_cluster || exit 1
ARCHIVE=$CLUSTER/poolscope

operate_client() {
	curl -sS --fail-with-body -m 60 -H 'X-ClickHouse-User: poolscope_writer' -H 'X-ClickHouse-Key: writes!' \
		--data-binary "$2" "http://127.0.0.1:$(_port_of "$1")/"
}
service() {
	case $2 in
	start) cluster_serve "$1" ;;
	stop) stop "ch$1" KILL ;;
	esac
}
# gone N...: ZooKeeper knows that they are not there.
gone() {
	for _n in "$@"; do
		[ "$(ask 3 "SELECT count() FROM system.zookeeper WHERE path = '/clickhouse/tables/poolscope/1/poolscope/meta/replicas/$_n' AND name = 'is_active'")" = 0 ] || return 1
	done
}
lose() {
	stop "ch$1" KILL
	rm -rf "$TMP/ch$1/data"
	mkdir -p "$TMP/ch$1/data/tmp"
}
answers_of() {
	poolscope-stats runs -p 'demo$farm' --format json "$@" &&
		poolscope-dump -q -p 'demo$farm' --format jsonl --kind event --kind phase --kind run --kind entity "$@"
}
same() {
	answers_of --store "$DIR/store" >"$TMP/of-store" &&
		answers_of --connect "$ARCHIVE" --archive-password "$TMP/writer" >"$TMP/of-archive" &&
		cmp "$TMP/of-store" "$TMP/of-archive"
}
whole() {
	check "$1: everything is archived" settled 120
	check "$1: nothing must be done" wait_until \
		'poolscope-archive check --to "$ARCHIVE" --archive-password "$TMP/writer" >"$TMP/checked" 2>&1' 90
	check "$1: nothing is lacking" poolscope-archive verify --to "$ARCHIVE" --archive-password "$TMP/writer"
	check "$1: the archive is the store" same
}

poolscope-archive create --to "$ARCHIVE" --archive-password "$TMP/writer" >"$TMP/created" || exit 1
{ aggregator_serve "$ARCHIVE" && start broker poolscope-broker; } || exit 1
check "runs come" load 5
whole "at first"

lose 2
check "more runs come" load 3
check "it is missed" wait_until 'gone r2' 60
check "a replica was lost" procedure "A replica was lost"
whole "a replica was lost"

# As after a power cut: parts that ZooKeeper does not know, of two thirds of the rows.
stop ch2 KILL
streams=$TMP/ch2/data/data/poolscope/streams
n=1000000
for part in "$streams"/all_* "$streams"/all_*; do
	n=$((n + 1))
	cp -a "$part" "$streams/all_${n}_${n}_0"
done
check_status 1 "a replica does not start" cluster_serve 2
check "... for the reason of the page" grep -q "The local set of parts of table poolscope.streams doesn't look like the set of parts in ZooKeeper" "$TMP/ch2.log"
check "more runs come" load 3
check "a replica does not start" procedure "A replica does not start"
whole "a replica that did not start"

lose 1
lose 2
check "more runs come" load 3
check "they are missed" wait_until 'gone r1 r2-2' 60
check "both of a shard were lost" procedure "Both replicas of a shard were lost"
whole "both of a shard"

stop zookeeper KILL
rm -rf "$TMP/zookeeper"
check "more runs come" load 3
zookeeper_serve || exit 1
check "ZooKeeper's data was lost" procedure "ZooKeeper's data was lost"
check_text "what was there is set aside, on each server" 4 "$(find "$TMP"/ch?/data/aside/data -maxdepth 1 -name poolscope | wc -l)"
whole "ZooKeeper"

echo 'another one' >"$TMP/writer.new"
check "a password is rotated" procedure "A password is rotated"
check "more runs come" load 3
whole "a password"
check_text "the old one is refused" "Code: 193" "$(ask 1 'SELECT 1' | cut -d, -f1)"
