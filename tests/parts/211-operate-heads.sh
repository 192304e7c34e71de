#!/bin/sh
# An operator does what deploy/clickhouse/operate.md says, word by word: a head comes back
# from a snapshot, a store was cloned, a partition moves to another head, an archive
# moves to another server.  Nothing is lost, and whoever was refused goes on.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2034 # the $ is a partition's; variables of the commands
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$ROOT/tests/parts/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$ROOT/tests/parts/archive.sh"
# shellcheck source=tests/parts/operate.sh
. "$ROOT/tests/parts/operate.sh"
archive_alone
ARCHIVE=$CLUSTER/poolscope
old=$CLICKHOUSE

# use NAME: the host of a head, to which records go from now on.
use() {
	HEAD=$1
	DIR=$TMP/$1
	POOLSCOPE_DIR=$DIR
	mkdir -p "$DIR/run"
}
service() {
	case $2 in
	start)
		start "$HEAD" poolscope-aggregator --archive "$ARCHIVE" --archive-password "$TMP/writer" \
			--archive-after 200ms --models "$ROOT/deploy/models" && start "$HEAD-broker" poolscope-broker
		;;
	stop) stop "$HEAD-broker" && stop "$HEAD" ;;
	esac
}
runs_of() {
	poolscope-generate testrun --runs "$2" --first "$3" --spacing 1 --base now --seed 7 -p "$1" --timeout 120s
}
problem() { archive_word archive_problem | grep -q "$1"; }
answers_of() {
	poolscope-stats runs -p "$_pool" --format json "$@" &&
		poolscope-dump -q -p "$_pool" --format jsonl --kind event --kind phase --kind run "$@"
}
# same POOL RUNS: the archive is the store of this head, which has them all.
same() {
	_pool=$1
	answers_of --store "$DIR/store" >"$TMP/of-store" &&
		answers_of --connect "$ARCHIVE" --archive-password "$TMP/writer" >"$TMP/of-archive" &&
		cmp "$TMP/of-store" "$TMP/of-archive" && [ "$(grep -c '"kind": "run"' "$TMP/of-store")" = "$2" ]
}

check_status 1 "an old server cannot delete records by itself" \
	poolscope-archive create --to "$ARCHIVE" --ttl 400d --archive-password "$TMP/writer"
check_printed "... by name" "18.16 is not asked for --ttl"
poolscope-archive create --to "$ARCHIVE" --archive-password "$TMP/writer" >"$TMP/created" || exit 1
use first
systemctl start poolscope-aggregator || exit 1
check "runs come" runs_of 'acct$pool' 5 0
check "... and are archived" settled
systemctl stop poolscope-aggregator
cp -a "$DIR/store" "$TMP/snapshot"
systemctl start poolscope-aggregator
check "more runs come" runs_of 'acct$pool' 5 5
check "... and are archived" settled
systemctl stop poolscope-aggregator
rm -rf "$DIR/store"
mv "$TMP/snapshot" "$DIR/store"
systemctl start poolscope-aggregator || exit 1
check "a head that comes back from a snapshot is refused" wait_until 'problem "this store is from before"' 60
check "the snapshot" procedure "A head comes back from a snapshot"
check "it goes on" runs_of 'acct$pool' 5 10
check "... and archives" settled
check "the archive has all runs, and so has the store" same 'acct$pool' 15
rm -rf "$DIR/store.before"

# The clone starts last, so the first one is refused.
systemctl stop poolscope-aggregator
mkdir -p "$TMP/clone"
cp -a "$DIR/store" "$TMP/clone/store"
systemctl start poolscope-aggregator
check "it runs" settled
use clone
systemctl start poolscope-aggregator || exit 1
check "a clone goes on" runs_of 'acct$pool' 2 15
check "... and archives" settled
use first
check "the first one gets records" runs_of 'acct$pool' 2 15
check "... and is refused" wait_until 'problem "another copy of this store, at .* has claimed"' 60
check "the clone" procedure "A store was cloned"
check "other runs come to it" runs_of 'other$pool' 4 0
check "... and are archived" settled
check "the archive has them" same 'other$pool' 4
use clone
check "the clone is not disturbed" runs_of 'acct$pool' 3 17
check "... as it archives" settled
check "the archive has its runs" same 'acct$pool' 20

check "a partition moves" sh -c '[ ! -e "$0" ]' "$TMP/second/store"
use second
check "... to another head" procedure "A partition moves to another head" 1
use clone
check "... and leaves the one before" procedure "A partition moves to another head" 2
use second
check "more runs come there" runs_of 'acct$pool' 5 20
check "... and are archived" settled
check "the archive has all of them" same 'acct$pool' 25
use clone
check "the one before has no more to say" settled

# Another server: of one shard, as the first.
for HEAD in first clone second; do
	use "$HEAD"
	systemctl stop poolscope-aggregator
done
serve_clickhouse ch2 || exit 1
NEW=clickhouse://writer@${CLICKHOUSE#http://}/poolscope
operate_client() {
	_url=$CLICKHOUSE
	[ "$1" = 2 ] || _url=$old
	_tcp=$(sed -n 's/.*<tcp_port>\(.*\)<.*/\1/p' "$TMP/ch/config.xml")
	printf %s "$2" | sed -e "s/'r1'/'127.0.0.1:$_tcp'/; s/poolscope_reader/reader/" |
		curl -sS --fail-with-body -m 60 -H 'X-ClickHouse-User: writer' -H 'X-ClickHouse-Key: s3cret' \
			--data-binary @- "$_url/"
}
echo look >"$TMP/reader"
check "an archive moves" procedure "An archive moves to another cluster"
ARCHIVE=$NEW
for HEAD in second first; do
	use "$HEAD"
	systemctl start poolscope-aggregator || exit 1
done
use second
check "more runs come" runs_of 'acct$pool' 5 25
check "... and are archived" settled
check "the new archive has all runs" same 'acct$pool' 30
use first
check "... of both heads" settled
check "... as the stores" same 'other$pool' 4
