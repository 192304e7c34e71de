#!/bin/sh
# Replicas that are away, lost and replaced.  The servers' addresses are not those of
# remote_servers (as with 127.0.1.1 of Debian's installer): their macros say in which
# shard they are.  While a replica is away, a gateway says since when nothing is
# committed.  A replica that had blocks alone is lost: they are sent again although
# ZooKeeper remembers them, also of a store that gets nothing new, and `check` says that
# parts are lacking until the lost replica is removed.  Passwords are replaced while
# aggregator and gateway run.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck disable=SC2034 # for clickhouse_cluster.sh
CLUSTER_HOST=127.0.1.1
archive_cluster || exit 1
check_text "no server takes a row for its own" "0 0 0 0" \
	"$(for n in 1 2 3 4; do ask $n "SELECT sum(is_local) FROM system.clusters WHERE cluster = 'poolscope'"; done | paste -sd' ')"

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --to "$CLUSTER/pool" --archive-password "$TMP/writer" "$@"
}
# again N: stop replica N, and start it with what its configuration says now.
again() { stop "ch$1" KILL && cluster_serve "$1"; }

# ---- a macro that is not the number of the server's row
sed -i 's/<shard>2</<shard>1</' "$TMP/ch3/config.d/macros.xml"
sed -i.was 's/127.0.1.1/127.0.0.1/' "$TMP/ch3/config.xml"
again 3 || exit 1
check_status 1 "a macro that is the number of another shard is refused" archive check
check_printed "... by name" "has the macro {shard} 1, but is in shard 2"
sed -i 's/<shard>1</<shard>two</' "$TMP/ch3/config.d/macros.xml"
mv "$TMP/ch3/config.xml.was" "$TMP/ch3/config.xml"
again 3 || exit 1
check_status 1 "a macro that is a word needs a row with the server's address" archive check
check_printed "... which it says" "its macro {shard} (two) is not the number of one"
sed -i 's/<shard>two</<shard>2</' "$TMP/ch3/config.d/macros.xml"
again 3 || exit 1

archive_start || exit 1
check "with numbers, nothing must be done" archive check
check "runs are made up" load 3
check "all of it is archived" settled
check "the archive is complete" archive verify

# ---- a replica is away: the second one of the shard that has the keys of the pool
home=$(ask 1 "SELECT sipHash64('demo\$farm') % 2")
first=$((home * 2 + 1)) second=$((home * 2 + 2))
cp -p "$TMP/reader" "$TMP/look"
mkdir -m 700 "$TMP/gate"
gateway="ipc://$TMP/gate/run/reader.ipc"
start gateway poolscope-aggregator --dir "$TMP/gate" --archive-password "$TMP/look" \
	--archive-only "$(echo "$CLUSTER" | sed s/_writer/_reader/)/pool" || exit 1
# events N, runs N: the gateway has N; what is made of events is sent when two replicas have these.
events() { [ "$(poolscope-dump -q -p 'demo$farm' --kind event --format jsonl --connect "$gateway" | wc -l)" = "$1" ]; }
runs() { [ "$(poolscope-dump -q -p 'demo$farm' --kind run --format jsonl --connect "$gateway" | wc -l)" = "$1" ]; }
# status: what a monitor of the gateway sees; its exit status.
status() { poolscope-stats status --connect "$gateway" >"$TMP/seen" 2>&1; }
check "the gateway has 3 runs" runs 3
check "a monitor of the gateway is content" status
stop "ch$second" KILL
check "more runs come" load 5
check "one replica has them, which is no commit" wait_until '[ "$(archive_word archive_one_copy)" = True ]' 60
check "the gateway says that nothing is committed" wait_until \
	'! status && grep -q "1 of 2 replicas of shard $((home + 1)) answer: aggregators commit nothing" "$TMP/seen"' 120
check "... and answers what one replica has" wait_until 'events 80' 60
check "... after which it still says so" sh -c '! grep -q "all is well" "$0"' "$TMP/seen"

# ---- the replica that has them is lost, and the other one comes back
stop "ch$first" KILL
rm -rf "$TMP/ch$first/data"
mkdir -p "$TMP/ch$first/data/tmp"
sed -i "s/>r$first</>r${first}b</" "$TMP/ch$first/config.d/macros.xml"
{ cluster_serve "$first" && cluster_serve "$second"; } || exit 1
check "a new replica gets its tables" archive create
check_status 3 "parts are lacking" archive check
check_printed "... which no replica has" "table [a-z]* lacks [1-9][0-9]* parts that no replica gives it"
check_printed "... and nothing else" "table [a-z]* lacks .*deploy/clickhouse/operate.md"
check "what was lost is sent again, without anything new" settled 120
judge "both replicas have it" 60
check "the archive is complete" archive verify
check "the gateway has 8 runs" wait_until 'runs 8' 60
check "... and a monitor of it is content" wait_until status 60
tables=$(ask "$second" "SELECT zookeeper_path FROM system.replicas WHERE database = 'pool'")
# shellcheck disable=SC2046,SC2086 # paths without blanks
check "the lost replica is removed" zookeeper_delete $(printf "%s/replicas/r$first\n" $tables)
check "nothing is lacking any more" wait_until 'archive check >"$TMP/checked" 2>&1' 90

# ---- passwords.  Servers look for changed users every two seconds.
for user in writer reader; do
	printf '%s\n' "new $user" >"$TMP/$user.new"
	chmod 600 "$TMP/$user.new"
done
for n in 1 2 3 4; do
	sed -i -e "s/$(printf %s writes! | sha256sum | cut -d' ' -f1)/$(printf %s 'new writer' | sha256sum | cut -d' ' -f1)/" \
		-e "s/$(printf %s reads! | sha256sum | cut -d' ' -f1)/$(printf %s 'new reader' | sha256sum | cut -d' ' -f1)/" \
		"$TMP/ch$n/users.d/poolscope.xml"
done
check "runs come" load 2
check "servers refuse the old password" wait_until 'archive_word archive_problem | grep -q "exception"' 60
mv "$TMP/writer.new" "$TMP/writer"
mv "$TMP/reader.new" "$TMP/look"
check "the new one is read, and all of it is archived" settled 90
check "... also by the gateway" wait_until 'runs 10' 60
