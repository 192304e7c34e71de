#!/bin/sh
# Readers whose keys are of some partitions ask for the status: what they can learn of the
# others from the store, the processes and a broker.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

listener=tcp://127.0.0.1:25730
intake=ipc://$DIR/run/intake.ipc
desk=tcp://127.0.0.1:25731
{
	poolscope-keys new server --role server
	poolscope-keys new reports --role reader -p 'acct$*' -o "$TMP/reports.key"
	poolscope-keys new front --role broker -p 'acct$*' -o "$TMP/front.key"
} >/dev/null || exit 1
check "an aggregator" start aggregator poolscope-aggregator --listen "$intake" \
	--reader "ipc://$DIR/run/reader.ipc" --reader "$desk" || exit 1
check "a broker" start broker poolscope-broker \
	--listen "$listener" --listen "ipc://$DIR/run/broker.ipc" || exit 1
keyed "a reader of some partitions learns nothing of the others" \
	status "$desk" "$intake" "$TMP/reports.key" "ipc://$DIR/run/reader.ipc"
keyed "a broker of some partitions gets no status for a peer without a key" \
	limited_broker "$desk" "$TMP/front.key"
keyed "a broker shows such a reader nothing" broker_status "$listener" "$TMP/reports.key"
stop broker
stop aggregator
check_status 1 "no log names a partition of others" grep -q 'secret\$' "$TMP/broker.log" "$TMP/aggregator.log"
