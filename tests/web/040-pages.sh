#!/bin/sh
# A list of runs in pages: a run that comes meanwhile neither repeats one nor leaves one out; a
# page after a run that is gone begins again with the newest.
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
check "a farm" poolscope-generate testrun -q --runs 60 --base -30d -p 'acct$farm'
wait_until indexed 60
page_start
page_judge pages.mjs "poolscope-generate testrun -q --runs 1 --first 900 --base now -p 'acct\$farm'
	for i in \$(seq 600); do
		! poolscope-dump -q -p 'acct\$farm' --kind run --format jsonl | grep -q '\"run\": \"900\"' || exit 0
		sleep 0.1
	done; exit 1"
stop web
