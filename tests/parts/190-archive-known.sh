#!/bin/sh
# The store and the archive know each other.  An archive that is another one, was
# made again while the aggregator ran, or lost one of its tables gets everything that
# the store has, and retention deletes nothing before that.  A store that is from
# before, also one that has gone on since, archives nothing and says so.  An archive
# that is from before gets everything, too.
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
archive_alone
archive_start || exit 1

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}
made_again() {
	archive drop --yes && archive create
}
# events: of the runs in the archive, each once.
events() { query "SELECT uniqExact(ts, node, session, seq, idx) FROM pool.events WHERE part = sipHash64('demo\$farm')"; }
# answers: what the runs are, of the store and of the archive.
answers_of() {
	for _what in runs groups; do
		poolscope-stats $_what -p 'demo$farm' --format json "$@" || return 1
	done
	poolscope-dump -q -p 'demo$farm' --format jsonl "$@"
}
same() {
	answers_of --store "$DIR/store" >"$TMP/of-store" &&
		answers_of --connect "$CLUSTER/pool" --archive-password "$TMP/writer" >"$TMP/of-archive" &&
		cmp "$TMP/of-store" "$TMP/of-archive"
}
# problem WORDS: what the status says of the archive.
problem() { archive_word archive_problem | grep -q "$1"; }

# ---- another archive. A run is 10 events.
check "runs are made up" load 20
check "all of it is archived" settled
check_text "... 200 events" 200 "$(events)"
stop broker
stop aggregator
check "another archive takes its place" made_again
check_status 3 "verify says so" archive verify
check_printed "... in a sentence" "this is not the archive that the store had"
check_status 3 "repairing records is not enough" archive verify --repair
start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$ROOT/deploy/models" --retain 100d
start broker poolscope-broker
check "all of it is archived again" settled
check "... which is logged" grep -q "not the archive that the store had.*everything is sent" "$TMP/aggregator.log"
check_text "... 200 events" 200 "$(events)"
check "readers of the archive have what the store has" same

# ---- while the aggregator runs, and nothing new comes
check "the archive is made again" made_again
check "all of it is archived again" wait_until '[ "$(events)" = 200 ] && settled 1' 90
check "readers of the archive have what the store has" same

# ---- tables
check "tables are lost" query 'DROP TABLE pool.names'
check "... of records, too" query 'DROP TABLE pool.events'
check "... and made again" archive create
check "all of it is archived again" wait_until '[ "$(events)" = 200 ] && settled 1' 90
check "readers of the archive have what the store has" same
check "nothing is lacking" archive verify
stop aggregator
check "everything is compacted" poolscope-admin compact --models "$ROOT/deploy/models"
check "a table is lost, compacted as its records are" query 'DROP TABLE pool.events'
check "... and made again" archive create
aggregator_serve || exit 1
check "all of it is archived again" wait_until '[ "$(events)" = 200 ] && settled 1' 90
check "readers of the archive have what the store has" same

# ---- an archive that is from before
stop ch KILL
cp -a "$TMP/ch/data" "$TMP/ch-snapshot"
serve ch /usr/sbin/clickhouse-server --config-file="$TMP/ch/config.xml"
answers "$CLICKHOUSE/ping" ch || exit 1
check "more runs come" load 10
check "... and are archived" settled
check_text "... 300 events" 300 "$(events)"
stop ch KILL
rm -rf "$TMP/ch/data"
mv "$TMP/ch-snapshot" "$TMP/ch/data"
check "the archiver sees that it is away" wait_until '[ "$(archive_word archive_failing)" = True ]' 60
serve ch /usr/sbin/clickhouse-server --config-file="$TMP/ch/config.xml"
answers "$CLICKHOUSE/ping" ch || exit 1
check "all of it is archived again" wait_until '[ "$(events)" = 300 ] && settled 1' 90
check "... which is logged" grep -q "it is from before (a snapshot.*everything is sent" "$TMP/aggregator.log"
check "readers of the archive have what the store has" same

# ---- nothing is deleted before it is in the archive: all is older than a second
stop broker
stop aggregator
check "the archive is lost" archive drop --yes
start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$ROOT/deploy/models" --retain 1s --compact-after 1s
start broker poolscope-broker
check "the aggregator says that it has no archive" wait_until 'problem "run poolscope archive create"' 60
check "a new one is made" archive create
check "all of it is archived" wait_until '[ "$(events)" = 300 ] && settled 1' 90
check "... and readers have 30 runs" test \
	"$(poolscope-dump -q -p 'demo$farm' --kind run --format jsonl --connect "$CLUSTER/pool" --archive-password "$TMP/writer" | wc -l)" = 30

# ---- a store of before
stop broker
stop aggregator
cp -a "$DIR/store" "$TMP/snapshot"
{ aggregator_serve && start broker poolscope-broker; } || exit 1
check "more runs come" load 30
check "... and are archived" settled
check_text "... 600 events" 600 "$(events)"
stop broker
stop aggregator
mv "$DIR/store" "$TMP/newer"
cp -a "$TMP/snapshot" "$DIR/store"
{ aggregator_serve && start broker poolscope-broker; } || exit 1
check "a store of before is recognized" wait_until 'problem "this store is from before"' 60
check_text "... which is a failure" True "$(archive_word archive_failing)"
stop broker
stop aggregator

# ... and has gone on, further than the archive, before it could be seen.
stop ch KILL
{ aggregator_serve && start broker poolscope-broker; } || exit 1
check "more runs come to the older store" load 60
check "... and are indexed" wait_until indexed 60
serve ch /usr/sbin/clickhouse-server --config-file="$TMP/ch/config.xml"
answers "$CLICKHOUSE/ping" ch || exit 1
check "it is recognized all the same" wait_until 'problem "this store is from before"' 90
check_text "... and nothing was archived" 600 "$(events)"
stop broker
stop aggregator

# ---- the way out that it names
mv "$DIR/store" "$TMP/older"
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$DIR/store"
check "... and takes the partitions over" archive takeover
{ aggregator_serve && start broker poolscope-broker; } || exit 1
check "more runs come" load 5
check "... and are archived" settled
check_text "... 650 events" 650 "$(events)"
check_text "... and nothing else is sent, but the gap of the restore" 51 "$(archive_word archive_records)"
check "readers of the archive have what the store has" same
