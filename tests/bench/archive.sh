# archive - what the archive in ClickHouse costs and how fast it is.  Cluster,
# archiver and curl share the machine: two shards of two replicas, and ZooKeeper.
#
#	RUNS=160000 NODES=100 LAG=60 sh tests/bench/archive.sh
#
# Rows a second that an aggregator which starts writes until two replicas of each
# shard have them, next to curl, which posts the same rows as blocks and waits for
# the same; and what a row takes there.  Then intake with and without an archive,
# and how old the archive is at a steady pace.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/../parts/clickhouse_cluster.sh"
if [ ! -x /usr/sbin/clickhouse-server ] && [ ! -x /usr/bin/clickhouse-server ]; then
	echo "SKIPPED archive: make test T=parts installs ClickHouse and ZooKeeper"
	exit 0
fi
cluster_start || exit 1
runs=${RUNS:-160000}
nodes=${NODES:-100}
lag=${LAG:-60}
pace=20000 # records a second of a large pool

now() {
	date +%s.%N
}

create() {
	poolscope-archive create --quiet --to "$CLUSTER/$1" --archive-password "$TMP/writer" >/dev/null
}

drop() {
	poolscope-archive drop --yes --quiet --to "$CLUSTER/$1" --archive-password "$TMP/writer" >/dev/null
}

# has_everything: the archive has what the store has.
has_everything() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		grep -q '"archive_passes": [1-9]' "$TMP/status" &&
		grep -q '"archive_lag": 0,' "$TMP/status" &&
		grep -q '"archive_lag_ns": 0' "$TMP/status"
}

# until_everything SECONDS
until_everything() {
	_end=$(($(date +%s) + $1 * SLOW))
	until has_everything; do
		[ "$(date +%s)" -lt "$_end" ] || {
			echo "the archive does not get everything:"
			tail -n 5 "$TMP/aggregator.log"
			exit 1
		}
		timeout 0.1 tail -f /dev/null
	done
}

# count DATABASE TABLE: the rows of the worse replica of each shard.
count() {
	for _replicas in "1 2" "3 4"; do
		for _replica in $_replicas; do
			ask "$_replica" "SELECT count() FROM $1.$2"
		done | sort -n | head -n 1
	done | awk '{ n += $1 } END { print n }'
}

# bytes DATABASE TABLE: of one copy.
bytes() {
	for _replica in 1 3; do
		ask "$_replica" "SELECT sum(bytes_on_disk) FROM system.parts
			WHERE active AND database = '$1' AND table = '$2'"
	done | awk '{ n += $1 } END { print n }'
}

# by_curl TABLE ROWS: post what the archive has of it, as blocks, to another
# database; prints the seconds.
by_curl() {
	create limit
	for _shard in 1 3; do
		_at=0
		while :; do
			ask "$_shard" "SELECT * FROM pool.$1 ORDER BY part, hour, node, ts, seq, idx
				LIMIT $_at, 250000 FORMAT Native" >"$TMP/block.$_shard.$_at"
			grep -q '^Code: ' "$TMP/block.$_shard.$_at" && cat "$TMP/block.$_shard.$_at" >&2 && exit 1
			[ -s "$TMP/block.$_shard.$_at" ] || break
			_at=$((_at + 250000))
		done
		rm -f "$TMP/block.$_shard.$_at"
	done
	_begin=$(now)
	for _block in "$TMP"/block.*; do
		_shard=${_block#"$TMP"/block.}
		curl -sS -f -H 'X-ClickHouse-User: poolscope_writer' -H 'X-ClickHouse-Key: writes!' \
			--data-binary "@$_block" \
			"http://127.0.0.1:$(_port_of "${_shard%%.*}")/?query=INSERT%20INTO%20limit.$1%20FORMAT%20Native" ||
			exit 1
	done
	wait_until "[ \"\$(count limit $1)\" = $2 ]" 600
	/usr/bin/python3 -c "print($(now) - $_begin)"
	rm -f "$TMP"/block.*
	drop limit
}

# catch_up WHAT TABLE UNIT: an aggregator starts and writes what its store has.
# What it needs to take an epoch is in the first figure only.
catch_up() {
	rm -f "$TMP/aggregator.log"
	create pool
	_begin=$(now)
	start aggregator poolscope-aggregator --archive "$CLUSTER/pool" \
		--archive-password "$TMP/writer" --archive-after 1s || exit 1
	until_everything 300
	_ended=$(now)
	stop aggregator
	_rows=$(count pool "$2")
	_limit=$(by_curl "$2" "$_rows")
	_values=1
	[ "$2" = events ] || _values=$(ask 1 "SELECT sum(length(v)) / count() FROM pool.$2")
	/usr/bin/python3 - "$TMP/aggregator.log" <<END
import datetime, sys
epoch = next(line for line in open(sys.argv[1]) if "epoch" in line).split()[0]
epoch = datetime.datetime.fromisoformat(epoch).timestamp()
rows, values = $_rows, $_values
print(f"$1: {rows} rows: {rows * values / ($_ended - $_begin):,.0f} $3 from the start, "
      f"{rows * values / ($_ended - epoch):,.0f} from the epoch; {rows / ($_ended - epoch):,.0f} rows/s, "
      f"by curl {rows / $_limit:,.0f} rows/s: ratio {$_limit / ($_ended - epoch):.2f} (goal 0.5); "
      f"{$(bytes pool "$2") / rows:.1f} bytes a row on 18.16")
END
	drop pool
}

# instance NAME: a directory of its own.
instance() {
	export POOLSCOPE_DIR="$TMP/$1"
	DIR=$POOLSCOPE_DIR
	mkdir -p "$DIR/run"
}

# generate RUNS FIRST SPACING NODE: 10 records and 5 other rows each.
generate() {
	poolscope-generate testrun -q --runs "$1" --first "$2" --spacing "$3" --base now \
		-n "node$4" -p 'acct$farm' --broker "ipc://$DIR/run/intake.ipc"
}

# A day of 8 nodes, which came while the archive was away.
events() {
	instance events
	start aggregator poolscope-aggregator --archive "clickhouse://nobody@127.0.0.1:9/pool" || exit 1
	wait_until '[ -S "$DIR/run/intake.ipc" ]'
	for _node in 1 2 3 4 5 6 7 8; do
		generate $((runs / 8)) $((_node * runs)) 8 $_node &
		eval "_load$_node=$!"
	done
	for _node in 1 2 3 4 5 6 7 8; do
		eval "wait \$_load$_node" || exit 1
	done
	wait_until indexed 120
	stop aggregator
	catch_up events events "rows/s (goal 300,000)"
}

# samples NAME SECONDS [wide]
samples() {
	instance "$1"
	# shellcheck disable=SC2086 # or none
	"${B:-$ROOT/build}/bench/series" fill "$DIR" "$nodes" "$2" 1 ${3:-}
	catch_up "$1" samples "values/s (goal 3,000,000)"
}

# intake_once [NAME=VALUE...]: events/s indexed, by poolscope alone on processor 0;
# in a session of its own, as Linux divides processors among sessions first.
intake_once() {
	env "$@" setsid -w taskset -c 0 "${B:-$ROOT/build}/bench/ingest" 4 2>/dev/null |
		sed -n 's/.* of 4; \([0-9]*\) events.s indexed$/\1/p'
}

# The median of three, in turns.
intake() {
	for _server in ch1 ch2 ch3 ch4 zookeeper; do
		taskset -a -p -c 1 "$(pid $_server)" >/dev/null
	done
	for _turn in 1 2 3; do
		echo "off $(intake_once A=)"
		create pool
		echo "on $(intake_once "POOLSCOPE_ARCHIVE=$CLUSTER/pool" \
			"POOLSCOPE_ARCHIVE_PASSWORD=$TMP/writer" POOLSCOPE_ARCHIVE_AFTER=1s)"
		echo "rows $(count pool events)"
		drop pool
	done | sort -k1,1 -k2,2n >"$TMP/intake"
	for _server in ch1 ch2 ch3 ch4 zookeeper; do
		taskset -a -p -c 0,1 "$(pid $_server)" >/dev/null
	done
	awk '++n[$1] == 2 { median[$1] = $2 } END {
		printf "intake: %d events/s indexed with an archive, %d without: %.0f %% (goal 90); %d were archived meanwhile\n",
			median["on"], median["off"], 100 * median["on"] / median["off"], median["rows"] }' "$TMP/intake"
}

# How old the archive is, four times a second, at a steady pace.
age() {
	instance age
	create pool
	start aggregator poolscope-aggregator --archive "$CLUSTER/pool" \
		--archive-password "$TMP/writer" || exit 1
	(
		_second=0
		while [ $_second -lt "$lag" ]; do
			timeout 1 tail -f /dev/null &
			generate $((pace / 10)) $((_second * pace)) 1 $((_second % 8)) || exit 1
			wait $!
			_second=$((_second + 1))
		done
	) &
	_load=$!
	/usr/bin/python3 - "$_load" "$lag" "$TMP/status" <<'END'
import json, os, subprocess, sys, time
pid, seconds, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def find(of, name):
    if isinstance(of, dict):
        if name in of:
            return of[name]
        of = of.values()
    for each in of if not isinstance(of, (str, int, float, bool, type(None))) else ():
        found = find(each, name)
        if found is not None:
            return found
    return None
ages, began = [], time.monotonic()
while time.monotonic() - began < seconds:
    shown = subprocess.run(["tests/flow/counters.py"], stdout=subprocess.PIPE, check=True)
    status = json.loads(shown.stdout)
    ages.append(find(status, "archive_lag_ns") / 1e9)
    time.sleep(0.25)
records = find(status, "archive_records")
print(f"age: {records} records archived in {seconds} s at 20,000/s, with --archive-after 10s: "
      f"none was older than {max(ages):.1f} s (goal 15)")
END
	wait $_load || exit 1
	stop aggregator
	drop pool
}

events
samples narrow 3600
samples wide 3600 wide
intake
age
exit 0
