#!/bin/sh
# Samples are read from an archive in place: as few of them as a question needs.
#
# n1 and n3, sampled every 2 s, and n2, every 10 s, have a level of 1 for two hours, which are
# compacted and archived.  So a mean of 120 minutes is 1, that of both hours, too.  Rollups of
# minutes have all of n1 and n3: no sample of these must be fetched.  n2 has too few samples for
# such rollups: its own are fetched, 1,440 of 11,520.
#
# Then a sample of n1 and one of n2 come that were late, of 601 s, with a level of 61.  Minute 10
# of n1 has 31 samples now: (30 + 61) / 31 = 2.93548.  That of n2 has 7: (6 + 61) / 7 = 9.57143.
# The first hour of n1 has 1801: (1800 + 61) / 1801 = 1.03331.  All else stays as it is.  A
# reader that had answered before has it soon, and when the hour is compacted again.
#
# n4 has noise, of which extremes and sums are rounded in one way in rollups and in another in
# samples.  Whatever is asked, a file has the bytes that it has when the aggregator is asked.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 10 * 86400) / 3600 * 3600))
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_cluster.sh
. "$(dirname "$0")/clickhouse_cluster.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse and ZooKeeper cannot be installed"
cluster_start || exit 1
GATEWAY=$TMP/gate
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
mkdir -m 700 "$GATEWAY"

# write_archive: an aggregator that archives, until everything is there.
write_archive() {
	aggregate --archive "$CLUSTER/pool" --archive-password "$TMP/writer" --archive-after 200ms
}
archived() {
	wait_until 'indexed && "$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		grep -q "\"archive_lag\": 0," "$TMP/status" && grep -q "\"archive_lag_ns\": 0," "$TMP/status" &&
		grep -q "\"archive_failing\": false" "$TMP/status"' 60
}
compact_again() {
	archived || fail "it is archived" "$TMP/status"
	stop aggregator
	check "$1" poolscope-admin compact
	write_archive
	archived || fail "it is archived" "$TMP/status"
}

# The sources: an argument for each word.
from_store() {
	"$@" --connect "ipc://$DIR/run/reader.ipc"
}
from_archive() {
	"$@" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
}
from_gateway() {
	"$@" --connect "ipc://$GATEWAY/run/reader.ipc"
}

# means SOURCE NODE STEP: how often each mean of a step comes.
means() {
	rm -rf "$TMP/plot"
	"$1" poolscope-plot samples -m level -n "$2" --step "$3" --from "$(at 0)" --to "$(at 7200)" \
		--no-png -q -o "$TMP/plot" || return
	awk '/^[0-9]/ { printf "%.5f\n", $2 }' "$TMP"/plot/*.dat | sort -n | uniq -c | xargs
}

# fetched: bytes of records and rollups that the gateway has.
fetched() {
	"$ROOT/tests/flow/counters.py" --connect "ipc://$GATEWAY/run/reader.ipc" |
		sed -n 's/.*"mirror_bytes": \([0-9]*\).*/\1/p'
}

# answers SOURCE FOLDER: what it says to a number of questions.
answers() {
	rm -rf "$2" && mkdir -p "$2" &&
		"$1" poolscope-dump -q --kind sample >"$2/all" &&
		"$1" poolscope-dump -q --kind sample --node n2 >"$2/n2" &&
		"$1" poolscope-dump -q --kind sample --node 'n[1-2]' --from "$(at 3590)" --to "$(at 3620)" >"$2/window" ||
		return
	for _step in 10s 1m 5m 1h; do
		"$1" poolscope-plot samples -q -m '*' --step "$_step" --no-png -o "$2/$_step" &&
			"$1" poolscope-plot samples -q -m '*' --step "$_step" -n n2 --from "$(at 90)" --to "$(at 5000)" \
				--no-png -o "$2/$_step-n2" || return
	done
}
# same WHEN: each of these questions has one answer.
same() {
	for _source in store archive gateway; do
		check "$1: the $_source answers" answers "from_$_source" "$TMP/said-$_source"
	done
	for _source in archive gateway; do
		check "$1: the $_source says what the aggregator says" diff -r "$TMP/said-store" "$TMP/said-$_source"
	done
}

check "the tables are made" poolscope-archive create --to "$CLUSTER/pool" --archive-password "$TMP/writer"
write_archive
/usr/bin/python3 -c 'print("group n1 job level:1:gauge")
for node, period in ("n1", 2), ("n2", 10), ("n3", 2):
    for t in range(0, 7200, period):
        print("sample", t, node, "job 1")
import random, sys
pick = random.Random(int(sys.argv[1]))
print("group n4 noise loud:1:gauge steps:1:counter")
for t in range(0, 7200, 2):
    print("sample", t, "n4", "noise", pick.random() * 1e6, int(t * 1e3) + pick.randrange(1000))' "$SEED" | records
compact_again "two hours are compacted"
start gateway poolscope-aggregator --dir "$GATEWAY" --archive-only "$CLUSTER/pool" \
	--archive-password "$TMP/writer" || exit 1

for source in archive gateway; do
	answer "from the $source: minutes of n1" "120 1.00000" means "from_$source" n1 1m
	answer "from the $source: both hours of n3" "2 1.00000" means "from_$source" n3 1h
done
few=$(fetched)
answer "minutes of n2" "120 1.00000" means from_gateway n2 1m
some=$(fetched)
answer "two seconds of n1" "3600 1.00000" means from_gateway n1 2s
more=$(fetched)
answer "samples of all" 11520 sh -c "poolscope-dump -q --kind sample --connect ipc://$GATEWAY/run/reader.ipc | wc -l"
all=$(fetched)
check "what was fetched grows with what was asked: $few, $some, $more, $all bytes" \
	test "$few" -lt 20000 -a "$some" -gt "$few" -a "$more" -gt "$((some + 10000))" -a "$all" -gt "$more"
same "compacted"

printf 'sample 601 n1 job 61\nsample 601 n2 job 61\n' | records
check "the gateway has them soon" wait_until '[ "$(means from_gateway n1 1m)" = "119 1.00000 1 2.93548" ]' 30
late() {
	for source in archive gateway; do
		answer "$1, from the $source: minutes of n1" "119 1.00000 1 2.93548" means "from_$source" n1 1m
		answer "$1, from the $source: minutes of n2" "119 1.00000 1 9.57143" means "from_$source" n2 1m
		answer "$1, from the $source: minutes of n3" "120 1.00000" means "from_$source" n3 1m
		answer "$1, from the $source: hours of n1" "1 1.00000 1 1.03331" means "from_$source" n1 1h
	done
}
late "late"
same "late"
compact_again "the hour is compacted again"
check "the gateway looks at it again" wait_until \
	'[ "$(from_gateway poolscope-dump -q --kind sample --step 1m | md5sum)" = "$(from_store poolscope-dump -q --kind sample --step 1m | md5sum)" ]' 30
late "compacted again"
same "compacted again"
