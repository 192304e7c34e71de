#!/bin/sh
# The network between aggregator and replicas, and between replicas, is cut: packets
# are dropped, so nobody gets an error.  Records are taken, the checkpoint waits, an
# answer of the archive is whole or there is none, and after each cut the archive on
# each replica is the store.  All of it runs in a network namespace of its own.
# FAULTS=all: also a network that is cut as a whole.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
if [ -z "${OWN_NETWORK:-}" ]; then
	for how in "unshare -n" "unshare -Urn"; do
		# shellcheck disable=SC2086 # words
		$how sh -c 'ip link set lo up && nft add table inet cut' 2>/dev/null &&
			OWN_NETWORK=yes exec $how sh "$0"
	done
	echo "SKIPPED: no network namespace with nft can be made here"
	exit 0
fi
ip link set lo up || exit 1
nft -f - <<'END' || exit 1
table inet cut {
	chain out {
		type filter hook output priority 0;
	}
}
END
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
{ cluster_start && archive_start; } || exit 1

# cut PORT...: no packet goes to or comes from these any more.
cut() {
	for _port in "$@"; do
		nft add rule inet cut out tcp dport "$_port" counter drop &&
			nft add rule inet cut out tcp sport "$_port" counter drop || exit 1
	done
}
heal() {
	check "... packets were dropped" sh -c 'nft list table inet cut | grep -q "packets [1-9]"'
	nft flush chain inet cut out
}
# between N: the port at which other replicas fetch parts of replica N.
between() {
	sed -n 's/.*<interserver_http_port>\([0-9]*\)<.*/\1/p' "$TMP/ch$1/config.xml"
}

# there FILE: the events that the archive has.
there() {
	poolscope-dump -q --connect "$CLUSTER/pool" --archive-password "$TMP/writer" \
		-p 'demo$farm' --kind event -o "$1"
}
restore() {
	poolscope-archive restore --from "$CLUSTER/pool" --archive-password "$TMP/writer" "$1"
}
events() {
	poolscope-dump -q "$@" -p 'demo$farm' --kind event
}

# committed: everything is archived; what the archive has is in $TMP/before.
committed() {
	check "everything is archived" settled
	check "... and read from the archive" there "$TMP/before"
	events >"$TMP/events"
	check "... as from the aggregator" cmp "$TMP/events" "$TMP/before"
}

# waits: records come, and the checkpoint stays where it was.
waits() {
	check "records are taken" load 3
	check "... and indexed" wait_until indexed 30
	check "... the status says that the archive fails" \
		wait_until '[ "$(archive_word archive_failing)" = True ]' 90
	lag=$(archive_word archive_lag)
	check "... and lacks them" test "$lag" -gt 0
	check_text "the aggregator has them" $((RUNS * 10)) "$(events | wc -l)"
}

# waited: they are still not committed, and then they are.
waited() {
	check "the checkpoint has waited" test "$(archive_word archive_lag)" -ge "$lag"
	heal
	check "... it settles when packets pass again" settled 90
	judge "... and the archive is the store"
}

# within FILE FILE: each line of the first is in the second.
within() {
	sort "$1" >"$TMP/some"
	sort "$2" | comm -23 "$TMP/some" - >"$TMP/more"
	test ! -s "$TMP/more"
}
# judge_got NAME: what was read, $TMP/got, has all that was committed, and perhaps some of
# what is not committed yet.
judge_got() {
	check "$1" within "$TMP/before" "$TMP/got"
	events >"$TMP/events"
	check "... and nothing that the aggregator has not" within "$TMP/got" "$TMP/events"
	check_text "... nothing twice" "" "$(sort "$TMP/got" | uniq -d)"
}
# whole NAME: what is read is what was committed.
whole() {
	check "$1 it is read" there "$TMP/got"
	judge_got "... all that was committed"
}

# ---- a shard ----
check "records are sent" load 3
committed
cut "$PORT3" "$PORT4"
waits
began=$(date +%s)
check_status 1 "without shard 2 there is no answer" there "$TMP/half"
check_printed "... which it explains" "shard 2"
check "... nothing is written" test ! -e "$TMP/half"
check_status 1 "... nor is a store made" restore "$TMP/half"
check_printed "... which it explains" "shard 2"
check "... nothing is left" test ! -e "$TMP/half" -a ! -e "$TMP/half.restoring"
took=$(($(date +%s) - began))
check "... in bounded time ($took s)" test "$took" -lt $((60 * SLOW))
waited

# ---- one replica of a shard ----
committed
cut "$PORT1"
waits
whole "from the other replica"
waited

# ---- replicas from each other ----
committed
cut "$(between 1)" "$(between 2)" "$(between 3)" "$(between 4)"
waits
check "... that there is one copy" wait_until '[ "$(archive_word archive_one_copy)" = True ]' 60
whole "while one replica lacks what the other has,"
check "a store is made of it" restore "$TMP/store"
events --store "$TMP/store" >"$TMP/got"
judge_got "... with all that was committed"
waited

# ---- all ----
everything() {
	committed
	cut "$PORT1" "$PORT2" "$PORT3" "$PORT4"
	waits
	check_status 1 "without a network there is no answer" there "$TMP/half"
	waited
}
[ "${FAULTS:-some}" = some ] || everything
committed
for each in 1 2 3 4; do
	stop ch$each KILL
	: >"$TMP/ch$each.log"
done
