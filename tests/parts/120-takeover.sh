#!/bin/sh
# A head node is lost.  Another one makes a store of the archive, takes over, and
# goes on: agents bring what the archive lacks, every event is there once, and the
# lost one writes nothing when it comes back.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
cluster_start || exit 1

archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --archive-password "$TMP/writer" "$@"
}

# head NAME STORE [OPTION...]: an aggregator of that store.
head_of() {
	_name=$1
	_store=$2
	shift 2
	start "$_name" poolscope-aggregator --store "$_store" --archive "$CLUSTER/pool" \
		--archive-password "$TMP/writer" --archive-after 200ms \
		--models "$ROOT/deploy/models" "$@"
}

# settled: everything is indexed, and committed to the archive.
settled() {
	wait_until 'indexed && grep -q "\"archive_lag_ns\": 0[,}]" "$TMP/status" &&
		grep -q "\"archive_failing\": false" "$TMP/status"' 60
}

# emit FIRST LAST: events of these numbers, accepted by the agent.
emit() {
	seq "$1" "$2" | sed 's/.*/app event --attr number=&/' >"$TMP/events"
	while read -r _event; do
		# shellcheck disable=SC2086 # words
		poolscope-emit $_event || return 1
	done <"$TMP/events"
}

# numbers: which events the aggregator has, and how often.
numbers() {
	poolscope-dump -q -p 'a$pool' --kind event --name app:event --format jsonl |
		python3 -c 'import collections, json, sys
def number(of):
    if isinstance(of, dict):
        if "number" in of:
            return int(of["number"])
        of = list(of.values())
    for each in of if isinstance(of, list) else []:
        found = number(each)
        if found is not None:
            return found
seen = collections.Counter(number(json.loads(line)) for line in sys.stdin)
print(min(seen), max(seen), len(seen), max(seen.values()))'
}

check "the tables are made" archive create --to "$CLUSTER/pool"
{ head_of first "$DIR/store" && start broker poolscope-broker &&
	start agent poolscope-agent --no-samples -p 'a$pool' -n n1; } || exit 1
check "events are sent" emit 1 50
check "they arrive" wait_until '[ "$(numbers)" = "1 50 50 1" ]' 90
settled || fail "everything is archived" "$TMP/status"

stop first KILL
check "the agent goes on" emit 51 80
check "a store is made of the archive" archive restore --from "$CLUSTER/pool" "$TMP/second"
check "it takes over" archive takeover --to "$CLUSTER/pool" --store "$TMP/second"
check_printed "... with the next epoch" "epoch 3, 1 partitions, 1 claims of others ended"
check_printed "... after the first" '^a\$pool  *1  *3$'
check "again, nothing is left to do" archive takeover --to "$CLUSTER/pool" --store "$TMP/second"
check_printed "... in the same epoch" "epoch 3, 1 partitions, 0 claims of others ended"
head_of second "$TMP/second" || exit 1
check "what the archive lacks comes from the agent" wait_until '[ "$(numbers)" = "1 80 80 1" ]' 90
check "later events, too" emit 81 100
check "... once" wait_until '[ "$(numbers)" = "1 100 100 1" ]' 90
settled || fail "the second one archives" "$TMP/status"
numbers >"$TMP/before"

# The lost one comes back, at other places.
mkdir -p "$TMP/old/run"
head_of old "$DIR/store" --dir "$TMP/old" || exit 1
check "the one that was lost is refused" wait_until \
	'grep -q "belongs to another aggregator" "$TMP/old.log"' 30
stop old

# What the agent sent last is archived, too.
stop agent
settled || fail "the second one archives what came last" "$TMP/status"
stop second
check "a third store is made" archive restore --from "$CLUSTER/pool" "$TMP/third"
dump() {
	poolscope-dump -q --store "$1" -p 'a$pool' --kind event --kind span --kind sample
}
dump "$TMP/second" >"$TMP/second.dump"
dump "$TMP/third" >"$TMP/third.dump"
check "it has what both heads wrote" cmp "$TMP/second.dump" "$TMP/third.dump"
check "every row is right" poolscope-admin verify --store "$TMP/third"

# A store that is older than the archive cannot take over.
check_status 1 "an older store is refused" archive takeover --to "$CLUSTER/pool" --store "$DIR/store"
check_printed "... with the reason" "has more of partition a\$pool than the store"

# The partition moves to a store of its own.  Who claims is in names of columns.
claims=$(ask 1 "SELECT max(toUInt32OrZero(substring(name, 7))) FROM system.tables WHERE database = 'pool' AND name LIKE 'claim_%'")
owner=$(ask 1 "SELECT substring(name, 4) FROM system.columns WHERE database = 'pool' AND table = 'claim_3' AND name LIKE 'of_%'")
check "the partition moves" archive move --to "$CLUSTER/pool" -p 'a/pool' --format json "$TMP/fourth"
check_json "... with its records" "['a\$pool'] $TMP/fourth" "'%s %s' % ([r['partition'] for r in rows], a['store'])"
# A session is on one shard.
events() {
	ask "$1" "SELECT uniqExact(session, seq, idx) FROM pool.events"
}
check_json "... of both heads" "$(($(events 1) + $(events 3)))" "rows[0]['events']"
check_json "... to the next epoch" "[('a\$pool', 3, '$owner', $((claims + 1)))]" \
	"[tuple(r[k] for k in ('partition', 'from_epoch', 'from_store', 'epoch')) for r in a['claims']]"
check_json "... which ended a claim" "[('ended', 1, '$TMP/fourth: epoch $((claims + 1)), 1 partitions, 1 claims of others ended')]" \
	"[tuple(n[k] for k in ('key', 'count', 'text')) for n in a['notes'] if n['key'] == 'ended']"
check "the new one has it" archive takeover --to "$CLUSTER/pool" --store "$TMP/fourth" --format json
check_json "... which it says" "$((claims + 1)) 0" "'%s %s' % (a['epoch'], a['ended'])"
check_json "... already" "[('a\$pool', $((claims + 1)), $((claims + 1)))]" \
	"[tuple(r[k] for k in ('partition', 'from_epoch', 'epoch')) for r in rows]"
