# archive_read - questions to an archive, next to the same ones to the store that
# wrote it: by a program that knows the archive's address alone, and by a gateway
# that was asked before.  Servers and programs share the machine.
#
#	POOL=1000 NODES=100 HOURS=1 RUNS=5 OTHERS=100000000 sh tests/bench/archive_read.sh
#
# OTHERS are events of 500 other pools, of 30 days, that lie in the same tables.
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
	echo "SKIPPED archive_read: make test T=parts installs ClickHouse and ZooKeeper"
	exit 0
fi
cluster_start || exit 1
pool=${POOL:-10000}
nodes=${NODES:-1000}
hours=${HOURS:-1}
RUNS=${RUNS:-3}
SIDE=$TMP/gate
mkdir -m 700 "$SIDE"

# archive_all DATABASE: all of the store of this instance.
archive_all() {
	poolscope-archive create --quiet --to "$CLUSTER/$1" --archive-password "$TMP/writer" >/dev/null
	start aggregator poolscope-aggregator --archive "$CLUSTER/$1" \
		--archive-password "$TMP/writer" --archive-after 1s
	wait_until '"$ROOT/tests/flow/counters.py" |
		grep -q "\"archive_passes\": [1-9]" &&
		poolscope stats status 2>/dev/null | grep -q "^archive *has everything"' 600
}

# gateway DATABASE: one that nobody has asked.
gateway() {
	stop gateway
	start gateway poolscope-aggregator --dir "$SIDE" --archive-only "$CLUSTER/$1" \
		--archive-password "$TMP/writer"
}

# three DATABASE NAME COMMAND...: from the store, the archive, and the gateway.
three() {
	_database=$1
	_what=$2
	shift 2
	for _from in "store" "archive alone" "gateway, asked before"; do
		case $_from in
		store) set -- "$@" --store "$DIR/store" ;;
		archive*) set -- "$@" --connect "$CLUSTER/$_database" --archive-password "$TMP/writer" ;;
		*)
			set -- "$@" --connect "ipc://$SIDE/run/reader.ipc"
			"$@" >/dev/null
			;;
		esac
		/usr/bin/python3 tests/bench/measure.py "$RUNS" "$_what, $_from" "$@"
		# Without the words of this source.
		_drop=2
		[ "$_from" != "archive alone" ] || _drop=4
		_keep=$(($# - _drop))
		for _word; do
			shift
			[ "$_keep" -gt 0 ] && set -- "$@" "$_word"
			_keep=$((_keep - 1))
		done
	done
}

echo "-- the start-up of $pool nodes (goal for 10,000 from the archive alone: 0.6 s, 48 MiB)"
python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes "$pool" --out "$TMP" --no-emits
export POOLSCOPE_DIR="$TMP/start"
DIR=$POOLSCOPE_DIR
mkdir -p "$DIR/run"
start aggregator poolscope-aggregator --models "$ROOT/deploy/models"
start broker poolscope-broker
poolscope-import cascade "$TMP/entities.jsonl" --quiet
wait_until indexed 120
stop broker
stop aggregator
archive_all start
gateway start
three start "stats + .dat + .plot" poolscope-plot cascade --view reference \
	-p 'bigacct$bigpool' --no-png --numbers -q -o "$TMP/out"
began=$(date +%s.%N)
poolscope-archive restore --from "$CLUSTER/start" --archive-password "$TMP/writer" -q "$TMP/restored" >"$TMP/out.restore"
/usr/bin/python3 -c "print('restored in %.1f s (goal for 10^7 rows: 60 s):' % ($(date +%s.%N) - $began))"
sed 's/^/  /' "$TMP/out.restore"
stop aggregator

others=${OTHERS:-10000000}
echo "-- the first line of a dump of that pool, next to $others events of others (goal for 100,000,000: 100 ms)"
first() {
	/usr/bin/python3 tests/bench/measure.py "$RUNS" "$1" sh -c "poolscope-dump -q -p 'bigacct\$bigpool' --kind event \
		--connect '$CLUSTER/start' --archive-password '$TMP/writer' 2>/dev/null | head -n 1 >'$TMP/first'; test -s '$TMP/first'"
}
first "without others"
each=1000000
for n in 1 3; do
	of=0
	while [ $of -lt $((others / 2)) ]; do
		ask $n "INSERT INTO start.events (part, hour, node, ts, session, seq, idx, recv, pos, source, name, uuid, types)
			SELECT sipHash64(concat('other', toString(n % 500))), toInt32(472222 + intDiv(n, 500) % 720),
			concat('node', toString(intDiv(n, 500) % 100)), 1700000000000000000 + n, '0123456789abcdef', n, 0,
			1700000000000000000 + n, n, 'bench', 'event', '', ''
			FROM (SELECT number + $of AS n FROM system.numbers LIMIT $each)" >/dev/null || exit 1
		of=$((of + each))
	done
done
check_text "others are there" "$others" "$(($(ask 1 "SELECT count() FROM start.events WHERE source = 'bench'") +
	$(ask 3 "SELECT count() FROM start.events WHERE source = 'bench'")))"
first "with others"

echo "-- one metric of $nodes nodes, $hours hours by minute (goal for 1,000: 150 ms); of one node (goal for a day: 60 ms)"
export POOLSCOPE_DIR="$TMP/series"
DIR=$POOLSCOPE_DIR
"${B:-$ROOT/build}/bench/series" fill "$DIR" "$nodes" $((hours * 3600))
archive_all series
# A full hour is compacted, and has rollups.
stop aggregator
poolscope-admin compact >/dev/null
archive_all series
gateway series
three series "$nodes nodes by minute" poolscope-plot samples -q -p 'bench$pool' -m system.cpu.time.user \
	--step 1m --no-png -o "$TMP/out.plot"
three series "one node by minute" poolscope-plot samples -q -p 'bench$pool' -m system.cpu.time.user \
	--step 1m --node node-00001 --no-png -o "$TMP/out.plot"
three series "all samples of one node" poolscope-dump -q -p 'bench$pool' --kind sample --node node-00001 \
	-o "$TMP/out.dump"
