#!/bin/sh
# All replicas of a shard lose power before they have written what they confirmed: of rows
# that change the newest versions are gone, nobody else has them, and older ones look right.
# The aggregator sends them once more: when servers have started again while it runs, and when it
# starts after them.  Records that are gone are an error, though the commit that counted them is
# gone, too, until they are sent again.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
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
{ cluster_start && archive_start; } || exit 1
from="$(echo "$CLUSTER" | sed s/_writer/_reader/)/pool"

# ask_all: what readers of the archive get of rows that change; "short" if it is an error.
ask_all() {
	for kind in run entity phase; do
		poolscope-dump -q -p 'demo$farm' --kind $kind --connect "$from" --archive-password "$TMP/reader" --format jsonl ||
			echo short
	done >"$TMP/answered" 2>&1
	for question in phases groups; do
		poolscope-stats $question -p 'demo$farm' --connect "$from" --archive-password "$TMP/reader" --format csv ||
			echo short
	done >>"$TMP/answered" 2>&1
}
# events: how many of them readers get; "short" if it is an error.
events() {
	if poolscope-dump -q -p "$1" --kind event --connect "$from" --archive-password "$TMP/reader" >"$TMP/events" 2>"$TMP/why"; then
		wc -l <"$TMP/events"
	else
		echo short
	fi
}
same() { ask_all && cmp -s "$TMP/answered" "$TMP/was"; }
tables='runs entities sums names streams nodes partitions models owners commits events'
data=data/data/pool
# note: which parts there are.  lose: on all replicas, those that came since.
note() {
	for n in 1 2 3 4; do
		(cd "$TMP/ch$n/$data" && ls -d ./*/*_*) >"$TMP/parts$n"
	done
}
lose() {
	for n in 1 2 3 4; do
		stop "ch$n" KILL
		for table in $tables; do
			for part in "$TMP/ch$n/$data/$table"/*_*_*; do
				grep -qx "./$table/${part##*/}" "$TMP/parts$n" || rm -rf "$part"
			done
		done
	done
	for n in 1 2 3 4; do
		cluster_serve "$n" || return 1
	done
}
# Parts that were merged are on the disk for eight minutes: only new ones can be lost.
no_merges() {
	for n in 1 2 3 4; do
		ask "$n" "SYSTEM STOP MERGES" >"$TMP/stopped"
	done
}

no_merges

check "test runs are archived" load 5
settled || fail "... all" "$TMP/status"
ask_all
cp "$TMP/answered" "$TMP/first"
note
check "more test runs are" load 5
settled || fail "... all" "$TMP/status"
ask_all
cp "$TMP/answered" "$TMP/was"
check_text "readers get them" 10 "$(grep -c '"kind": "run"' "$TMP/was")"
check_status 1 "... without an error" grep -q short "$TMP/was"
all=$(events 'demo$farm')
check "... with their events" test "$all" -gt 50
check_status 1 "... which is more than before" cmp -s "$TMP/first" "$TMP/was"

# The aggregator stands still, and so meets no server that does not answer.
kill -STOP "$(pid aggregator)"
check "the servers lose power" lose
check_status 1 "it is lost" same
kill -CONT "$(pid aggregator)"
check "readers get all of it from the aggregator that goes on" wait_until same 60
check "... but the records, which are an error" wait_until '[ "$(events "demo\$farm")" = short ]' 60
check "... that names the hour" grep -q "committed rows of table events, hour" "$TMP/why"
stop aggregator
check "they are to be sent again" poolscope-archive verify --to "$CLUSTER/pool" --archive-password "$TMP/writer" --repair
aggregator_serve || exit 1
check "they are" wait_until '[ "$(events "demo\$farm")" = "$all" ]' 60

no_merges
note
check "more test runs are" load 5
settled || fail "... all" "$TMP/status"
ask_all
cp "$TMP/answered" "$TMP/was"
check_text "readers get them" 15 "$(grep -c '"kind": "run"' "$TMP/was")"
stop aggregator
check "servers and aggregator lose power" lose
check_status 1 "it is lost" same
aggregator_serve || exit 1
check "readers get all of it when the aggregator has started" wait_until same 60
check "... with the records" wait_until '[ "$(events "demo\$farm")" -gt "$all" ]' 60
