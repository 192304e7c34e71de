#!/bin/sh
# The recorded pools, profiles, reports and test runs again, and every program
# that reads them reads an archive alone: the aggregator archives what is
# imported, and the readers get --connect clickhouse://.  Every byte is as
# recorded.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
serve_clickhouse ch || exit 1

ARCHIVE=clickhouse://${CLICKHOUSE#http://}
PROGRAMS=$B/bin COUNTERS=$ROOT/tests/flow/counters.py
export ARCHIVE PROGRAMS COUNTERS
mkdir -p "$TMP/b/bin"
for program in "$PROGRAMS"/poolscope*; do
	ln -s "$program" "$TMP/b/bin/"
done

# Each instance has an archive of its own, with the name in DIR/archive.
cat >"$TMP/aggregator" <<'END'
#!/bin/sh
if [ ! -e "$POOLSCOPE_DIR/archive" ]; then
	name=pool$$
	"$PROGRAMS/poolscope-archive" create --to "$ARCHIVE/$name" >/dev/null || exit 1
	echo "$name" >"$POOLSCOPE_DIR/archive"
fi
exec "$PROGRAMS/poolscope-aggregator" "$@" --archive-after 100ms \
	--archive "$ARCHIVE/$(cat "$POOLSCOPE_DIR/archive")"
END

# A question waits until the archive has everything: when the aggregator has ended,
# the questions before it have waited.  Those about the aggregator itself, and those
# that name their source, go there.
cat >"$TMP/reader" <<'END'
#!/bin/sh
program=$PROGRAMS/$(basename "$0")
for word; do
	case $word in
	status | results | --store | --connect) exec "$program" "$@" ;;
	esac
done
for _ in $(seq 600); do
	PATH=$PROGRAMS:$PATH /usr/bin/python3 "$COUNTERS" -q 2>/dev/null >"$POOLSCOPE_DIR/said" || break
	grep -q '"from": ".*/store"' "$POOLSCOPE_DIR/said" && break
	grep -q '"archive_lag": 0,' "$POOLSCOPE_DIR/said" &&
		grep -q '"archive_lag_ns": 0,' "$POOLSCOPE_DIR/said" && break
	sleep 0.05
done
exec "$program" "$@" --connect "$ARCHIVE/$(cat "$POOLSCOPE_DIR/archive")"
END
chmod +x "$TMP/aggregator" "$TMP/reader"
ln -sf "$TMP/aggregator" "$TMP/b/bin/poolscope-aggregator"
for program in stats plot trace dump; do
	ln -sf "$TMP/reader" "$TMP/b/bin/poolscope-$program"
done

# golden WHAT: the recorded cases of WHAT.  Those of scanner have a million intervals,
# so a farm of 1,000 runs is enough.
golden() {
	B=$TMP/b GOLDEN=$1 GOLDEN_NODES=1000 GOLDEN_RUNS=1000 sh tests/golden/run.sh >"$TMP/golden" 2>&1
	_golden=$?
	grep -v '^ok ' "$TMP/golden"
	grep -q '^[1-9][0-9]* passed, 0 failed' "$TMP/golden" && return $_golden
}

# asked: how many questions the server had.
asked() {
	query "SELECT value FROM system.events WHERE event = 'SelectQuery'"
}

for what in ${GOLDEN:-cascade perf-reports scanner testrun testbench}; do
	before=$(asked)
	check "$what: as recorded, from the archive" golden "$what"
	check "... which was asked" test $(($(asked) - before)) -gt 20
done
