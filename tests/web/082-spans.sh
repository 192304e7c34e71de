#!/bin/sh
# Spans on the page: a build of ten compilations of 1, 2 ... 10 s on cn1, one after the other, a
# link of 5 s on cn2 behind them, and a test with a name that would be markup, 200 letters long.
# The wall time is 55 + 5 = 60 s: cc has 55 s of it.  The slowest is the last compilation, which
# began after 45 s.  In time they are three lanes: of cn1 the build, of cn2 link and test.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
{
	begin=0
	for seconds in 1 2 3 4 5 6 7 8 9 10; do
		echo "span $begin $((begin + seconds)) cn1 build cc"
		begin=$((begin + seconds))
	done
	echo "span 55 60 cn2 link ld"
	echo "span 58 58.5 cn2 test <b>$(printf 'x%.0s' $(seq 193))</b>"
} | records
for by in name node span; do
	poolscope-stats spans --by $by --format json >"$TMP/$by" || exit 1
done
page_start
page_judge spans.mjs "$TMP" ${SHOTS:+"$SHOTS"}
stop web
stop aggregator
