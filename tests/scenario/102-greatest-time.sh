#!/bin/sh
# A node's clock stands at the greatest time that is accepted, the first second of
# 2200: 7258118400 s.  A step from 100 s before took 100 s; a span ends there, a
# sample is taken there.  Everything is shown: 2 events, 1 span, 1 sample, 1 phase.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=7258118000 # 2199-12-31 23:53:20 UTC: date -u -d @7258118000
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event 300 n1 work:start
	event 400 n1 work:end
	span  390 400 n1 track last
	group n1 level one:1:gauge
	sample 400 n1 level 5
END
LAST=2200-01-01T00:00:00.000000000Z
for kind in event span sample phase; do
	check "a dump of kind $kind" poolscope-dump --kind "$kind" --format csv
	check_printed "... has the last moment" "$LAST"
	check "... also with --to" poolscope-dump --kind "$kind" --format csv --to 2200-01-01
	check_printed "... has the last moment" "$LAST"
	check "... also followed from the journal" poolscope-dump --kind "$kind" --format csv --clock corrected
	check_printed "... has the last moment" "$LAST"
done
answer "the step took 100 s" "1,100.0,0" \
	columns count,mean,open_starts poolscope-stats phases --format csv
check "a trace" poolscope-trace -o "$TMP/all.json"
check "... has the event at the end" grep -q '"work:end"\|"end"' "$TMP/all.json"
check "... the span" grep -q '"last"' "$TMP/all.json"
check "... and the sample" grep -q '"one"\|level' "$TMP/all.json"
