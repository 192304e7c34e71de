#!/bin/sh
# What a report shows first, of pools of 60 nodes, of one, and of 10,000: the sentences that its text has, and a
# picture, on a screen of 1280 by 800; a curve with its numbers for each metric that the text has; one line for
# what is left out.
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
check "a pool of 60 nodes" poolscope-generate pool --nodes 60 --starts 2 -p 'acct$sixty'
check "a pool of one node" poolscope-generate pool --nodes 1 -p 'acct$one'
check "a pool of 10,000 nodes" poolscope-generate pool --nodes 10000 --starts 1 -p 'acct$large'
wait_until indexed 120 || exit 1
for pool in sixty one large; do
	check "$pool: a report" poolscope-report -q -p "acct\$$pool" -o "$TMP/r.html"
	check "... its text" poolscope-report -q -p "acct\$$pool" --format text -o "$TMP/r.text"
	sed -n '4,/^$/p' "$TMP/r.text" | sed '/^$/d; s/, [^,]* before this answer//; s/ open [^,]*,/ open,/g' >"$TMP/sentences"
	sed -n '/^Metrics$/,/^$/p' "$TMP/r.text" | sed '1,3d; /^$/d; s/ .*//' >"$TMP/metrics"
	check "... has sentences and metrics" test -s "$TMP/sentences" -a -s "$TMP/metrics"
	ADDRESS=$TMP/r.html
	cut=
	[ $pool != large ] || cut="tables by node but for the first 200 rows of nodes and of each phase"
	page_judge opening.mjs "$TMP/sentences" "$TMP/metrics" "$cut" ${SHOTS:+"$SHOTS"}
done
stop broker
stop aggregator
