#!/bin/sh
# Forty texts that would be markup, commands or formulas, as nodes, tests, entries and groups: on
# the page they are texts.  No script runs, nothing is asked of another host.
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
PYTHONPATH=$ROOT/tests/attack:$ROOT/tests/flow /usr/bin/python3 "$ROOT/tests/web/hostile.py" "$TMP" || exit 1
check "nodes with such names" poolscope-import cascade "$TMP/nodes.jsonl" --quiet
check "tests and entries with such names" poolscope-upload results -p 'acct$texts' --target store \
	-d "$TMP/results" -a "$TMP/archive"
wait_until indexed 60
page_start
export WIDTHS="1600 360"
page_judge page.mjs "$TMP/screens" ${SHOTS:+"$SHOTS"}
stop web
