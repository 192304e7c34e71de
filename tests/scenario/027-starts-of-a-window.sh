#!/bin/sh
# A pool of three nodes.  n1 started on the first day at 0 s and was ready after 30 s;
# n2 started at 86,390 s, ten seconds before the second day (86,400 s), and was ready
# after 40 s, on the second day; n3 started at 90,000 s and was ready after 50 s.  n1
# was started again at 100,000 s and was ready after 60 s.
#
# Ready is cascade:gr-done; GLOBAL counts from cascade:start, 10 s after the start: 20,
# 30, 40 s, and 50 s for the second start of n1.
#   the first day:   n1 with 20 s, n2 with 30 s, though its end is in the second
#   the second day:  n3 with 40 s, n1 with 50 s, its second start
#   all:             n1 with its first start, n2, n3
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
# node BEGIN READY NAME
node() {
	echo "event $1 $3 nodeprep:start"
	echo "event $(($1 + 3)) $3 privateregistry:start"
	echo "event $(($1 + 4)) $3 privateregistry:end"
	echo "event $(($1 + 5)) $3 nodeprep:end"
	echo "event $(($1 + 10)) $3 cascade:start"
	echo "event $(($1 + 12)) $3 cascade:pull-start img=redis:3"
	echo "event $(($1 + 15)) $3 cascade:pull-end img=redis:3"
	echo "event $2 $3 cascade:gr-done"
}
{
	node 0 30 n1
	node 86390 86430 n2
	node 90000 90050 n3
	node 100000 100060 n1
} | records
# global [ARGUMENT...]: nodes in the order of their start, and GLOBAL.
global() {
	poolscope-stats cascade --format json "$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["rows"]:
    print(row["node"], row["global_resources_loaded"])' "$TMP/json"
}
answer "the first day" "n1 20.0
n2 30.0" global --to "$(at 86400)"
answer "the second day" "n3 40.0
n1 50.0" global --from "$(at 86400)"
answer "an hour of it" "n3 40.0" global --from "$(at 90000)" --to "$(at 93600)"
answer "the start is in a window that begins with it, not in one that ends with it" "n2 30.0" \
	global --from "$(at 86390)" --to "$(at 90000)"
answer "preparation is not the installation of Docker" "n1,5.0,3.0
n2,5.0,3.0" columns node,nodeprep,docker_install poolscope-stats cascade --format csv --to "$(at 86400)"
check_status 1 "a time in which no node started" poolscope-stats cascade --from "$(at 200000)"
check_printed "... is reported" "no nodes that started in that time"
check "the picture of the second day" poolscope-plot cascade -o "$TMP/plot" --numbers --no-png \
	--from "$(at 86400)"
answer "... has its nodes" "n3
n1" /usr/bin/python3 -c 'import json, sys
print(*(row["node"] for row in json.load(open(sys.argv[1]))["rows"]), sep="\n")' "$TMP/plot/acct-pool.json"
