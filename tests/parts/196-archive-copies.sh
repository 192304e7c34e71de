#!/bin/sh
# Copies of a store, and one archive: a copy that is older than the archive, one that
# starts while the first one is idle, a backup that is restored, the same store in
# another place.  The one that started last goes on with an epoch of its own, if it has
# all that is archived; each other one is refused by name, writes nothing, and has a way
# out.  The archive is always the store of the one that may write.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
serve_clickhouse ch || exit 1
printf 's3cret\n' >"$TMP/writer"
chmod 600 "$TMP/writer"
CLUSTER=clickhouse://writer@${CLICKHOUSE#http://}

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --archive-password "$TMP/writer" "$@"
}
# head_of NAME STORE: an aggregator and a broker of an instance NAME, to which load sends
# from now on.
head_of() {
	use "$1"
	mkdir -p "$DIR/run"
	start "$1" poolscope-aggregator --store "$2" --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
		--archive-after 200ms --models "$ROOT/deploy/models" && start "$1-broker" poolscope-broker
}
use() { DIR=$TMP/$1 POOLSCOPE_DIR=$TMP/$1; }
stop_head() { stop "$1-broker" && stop "$1"; }
problem() { archive_word archive_problem | grep -q "$1"; }
events() { query "SELECT uniqExact(ts, node, session, seq, idx) FROM pool.events WHERE part = sipHash64('demo\$farm')"; }
epoch() { archive_word archive_epoch; }
answers_of() {
	poolscope-stats runs -p 'demo$farm' --format json "$@" &&
		poolscope-dump -q -p 'demo$farm' --format jsonl --kind event --kind phase --kind run "$@"
}
same() {
	answers_of --store "$1" >"$TMP/of-store" &&
		answers_of --connect "$CLUSTER/pool" --archive-password "$TMP/writer" >"$TMP/of-archive" &&
		cmp "$TMP/of-store" "$TMP/of-archive"
}

# ---- a run is 10 events
archive create --to "$CLUSTER/pool" >"$TMP/created" || exit 1
head_of first "$TMP/store" || exit 1
check "runs come" load 5
check "... and are archived" settled
stop_head first
cp -a "$TMP/store" "$TMP/older"
cp -a "$TMP/store" "$TMP/idle"
head_of first "$TMP/store" || exit 1
check_text "a store that is started again has the same epoch" 1 "$(epoch)"
check "more runs come" load 5
check "... and are archived" settled
check_text "... 100 events" 100 "$(events)"

# ---- a copy that is older
head_of clone "$TMP/older" || exit 1
check "a copy that is older is refused" wait_until 'problem "this store is from before"' 60
check "... with the way out" problem "poolscope archive takeover"
check "it takes records all the same" load 2
stop_head clone
use first
check "the first one goes on" load 2
check "... as if nothing was" settled
check_text "... in its epoch" 1 "$(epoch)"
check "readers of the archive have what it has" same "$TMP/store"

# ---- a copy of what it is now, which starts while the first one runs
stop_head first
rm -rf "$TMP/idle"
cp -a "$TMP/store" "$TMP/idle"
head_of first "$TMP/store" || exit 1
check "it runs" settled
head_of idle "$TMP/idle" || exit 1
check "a copy goes on in another place" load 3
check "... and archives" settled
check "... with an epoch of its own" test "$(epoch)" -gt 1
use first
check "then the first one gets records" load 4
check "... and is refused" wait_until 'problem "another copy of this store, at .* has claimed its partitions since"' 60
check_text "... which its status says" True "$(archive_word archive_refused)"
check "... with the way out" problem "poolscope archive takeover"
use idle
check "the copy is not disturbed" load 1
check "... as it archives" settled
check "readers of the archive have what the copy has" same "$TMP/idle"
check_text "the owners are one and one that has ended" "ended ok" \
	"$(archive owners --to "$CLUSTER/pool" --format jsonl | sed -n 's/.*"state": "\([a-z ]*\)".*/\1/p' | paste -sd' ')"
stop_head first
head_of first "$TMP/store" || exit 1
check "the first one is refused after a start, too" wait_until 'problem "has claimed its partitions since\|is from before"' 60
stop_head first
stop_head idle

# ---- a backup, restored when the archive has gone on, and when it has not
check "a backup is made" poolscope-admin backup --store "$TMP/idle" "$TMP/backup"
cp -a "$TMP/backup" "$TMP/backup.new"
head_of idle "$TMP/idle" || exit 1
check "more runs come" load 2
check "... and are archived" settled
stop_head idle
check "the backup is restored" poolscope-admin restore --store "$TMP/restored" "$TMP/backup"
head_of restored "$TMP/restored" || exit 1
check "it is refused" wait_until 'problem "is from before\|belongs to another\|has claimed"' 60
check "... with the way out" problem "poolscope archive restore"
stop_head restored

# ---- the way out that all of them name
check "a store is made of the archive" archive restore --from "$CLUSTER/pool" "$TMP/last"
check "... and takes over" archive takeover --to "$CLUSTER/pool" --store "$TMP/last"
head_of last "$TMP/last" || exit 1
check "it goes on" load 3
check "... and archives" settled
check "readers of the archive have what it has" same "$TMP/last"
use idle
head_of idle "$TMP/idle" || exit 1
check "the one before is refused" wait_until 'problem "belongs to another aggregator"' 60
