#!/bin/sh
# A pool that was dropped and made again by its senders: the archive has the test runs of
# both, and statistics of the newer store.  A store that is restored derives them again,
# and then every row of it is right.
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

check "test runs are made up" load 8
check "... and archived" settled
check "the pool is dropped" poolscope-partitions drop 'demo$farm' --yes
check "5 others come" load 5
check "... and are archived" settled
check_text "the store has these" 5 "$(poolscope-dump -q -p 'demo$farm' --kind run | wc -l)"
stop aggregator
check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/copy"
mv "$DIR/store" "$TMP/old"
mv "$TMP/copy" "$DIR/store"
check "it gets the pool" poolscope-archive takeover --to "$CLUSTER/pool" --archive-password "$TMP/writer"
aggregator_serve || exit 1
check "... derives what follows, and archives it" settled
check_text "it has the test runs of both" 13 "$(poolscope-dump -q -p 'demo$farm' --kind run | wc -l)"
stop aggregator
check "every row of it is right" poolscope-admin verify
stop broker
