#!/bin/sh
# The page by keyboard alone; a record that comes while the page is open is on the screen soon,
# also after a crash of the aggregator; without a valid token the page says what to do.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a recorded pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
echo "event $(date +%s) first nodeprep:start" >"$TMP/first"
echo "event $(date +%s) third nodeprep:start" >"$TMP/third"
echo "event $(date +%s) second nodeprep:start" >"$TMP/second"
send="BASE=0 /usr/bin/python3 '$ROOT/tests/scenario/records.py' 'ipc://$DIR/run/intake.ipc' 'acct\$live'"
check "a pool that is watched" sh -c "$send <'$TMP/first'"
wait_until indexed 60
page_start
token=$(poolscope-keys token ada -p 'acct$*')
crash="kill -9 $(pid aggregator); poolscope-aggregator >'$TMP/again.log' 2>&1 & echo \$! >'$TMP/aggregator.pid'
	for i in \$(seq 600); do ! grep -q ready '$TMP/again.log' || exit 0; sleep 0.1; done; exit 1"
page_judge keys.mjs "$send <'$TMP/second'" "$send <'$TMP/third'" "$crash" "poolscope-keys revoke ada" "$token"
stop web
