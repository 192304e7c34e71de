#!/bin/sh
# A node runs 80 cycles of 10 s; then 50 older ones of 30 s arrive, from a spool that
# was without a network, 100 events at a time.  All 130 count, whenever they came:
# (80 * 10 + 50 * 30) / 130 = 2300 / 130 = 17.692307692307693 s.
# A rebuild from the stored events gives the same once more.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "cycle" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
# cycles FIRST COUNT SECONDS: one every 100 s.
cycles() {
	i=0
	while [ $i -lt "$2" ]; do
		echo "event $(($1 + i * 100)) n1 work:start"
		echo "event $(($1 + i * 100 + $3)) n1 work:end"
		i=$((i + 1))
	done
}
cycles 10000 50 10 >"$TMP/a"
cycles 15000 30 10 >"$TMP/b"
cycles 0 50 30 >"$TMP/late"
records <"$TMP/a"
records <"$TMP/b"
records <"$TMP/late"
answer "every cycle counts" "130,2300.0,17.692307692307693,0,0" \
	columns count,sum,mean,open_starts,open_ends poolscope-stats phases --format csv
answer "and is listed" 130 sh -c 'poolscope-dump --kind phase | wc -l'
stop aggregator
poolscope-admin rebuild --models "$TMP/models" >"$TMP/rebuilt" 2>&1
answer "a rebuild says the same" "130,2300.0" \
	columns count,sum poolscope-stats phases --store "$DIR/store" --format csv
