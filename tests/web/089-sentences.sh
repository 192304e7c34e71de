#!/bin/sh
# Each sentence of the overview leads to a picture or a table that is not empty, on the page and in the report: of a
# pool whose second start has a node with a slow disk.
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
check "a pool" poolscope-generate pool --nodes 30 --starts 2 --cause disk:17:3 -p 'acct$slow'
wait_until indexed 120 || exit 1
page_start
page_judge sentences.mjs 'acct$slow' ${SHOTS:+"$SHOTS"}
check "a report" poolscope-report -q -p 'acct$slow' -o "$TMP/r.html"
ADDRESS=$TMP/r.html
page_judge sentences.mjs "" ${SHOTS:+"$SHOTS"}
stop web
stop broker
stop aggregator
