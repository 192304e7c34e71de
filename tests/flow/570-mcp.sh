#!/bin/sh
# poolscope mcp on standard input and output, by a client of Python's standard library: the
# beginning, the tools, calls, messages that are none, and names that look like orders.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are parts of names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

# Node n1 to n60 are prepared for 1 to 60 s; the names of the others are no names of people.
seq 60 | awk '{ print "event 0 n" $1, "work:start"; print "event", $1, "n" $1, "work:end" }' >"$TMP/records"
mkdir "$TMP/models"
cat >"$TMP/models/work.conf" <<'END'
phase "step" {
	start = "work:start"
	end = "work:end"
	key = "img"
	required = true
}
END
check "an aggregator" start aggregator poolscope-aggregator --models "$TMP/models" || exit 1
check "records" /usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" 'acct$pool' <"$TMP/records"
check "a pool with odd names" /usr/bin/python3 "$ROOT/tests/flow/mcp.py" odd_names
wait_until '[ "$(poolscope stats pools --format csv --columns partition,records | grep -c -e "pool,120" -e "odd,4")" = 2 ]' 30 ||
	poolscope stats pools --format csv --columns partition,records

for case in begins versions tools same arguments cuts refuses broken lengths counts; do
	check "$case" /usr/bin/python3 "$ROOT/tests/flow/mcp.py" "$case" "$TMP"
done
check "orders in names" /usr/bin/python3 "$ROOT/tests/flow/mcp.py" orders "$TMP"

# ---- without an aggregator the store is read, and left to others between two calls
stop aggregator
check "the store itself" /usr/bin/python3 "$ROOT/tests/flow/mcp.py" store "$TMP"
check_status 1 "an answer that cannot be written" \
	sh -c 'echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}" | poolscope mcp >/dev/full'
check_printed "... is an error" "cannot write the answer"
check_status 0 "no request at all" poolscope mcp </dev/null
