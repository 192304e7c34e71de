#!/bin/sh
# How long the newest start of a pool took, as Prometheus gets it from a server that keeps what
# it has read: a node is prepared, then ready at its cascade:gr-done.
#
#	first	n1 begins at 0, is ready at 100; n2 begins at 30, is ready at 400: 400 s.
#	second	n1 begins at 86400: there is no number until it is ready, at 86450: 50 s.
#		n2 began 20 s before it, is ready at 86430, and sends this late: the start
#		began at 86380, so it took 86450 - 86380 = 70 s.
#
# A pool of which no node begins in the way of a model has no such number.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until "grep -q '#k=' '$TMP/web.log'" || exit 1
address=$(grep -o 'http://[^ ]*#k=[0-9a-f]*' "$TMP/web.log" | head -n 1)
scraped() {
	/usr/bin/python3 -c '
import sys, urllib.request
base, _, token = sys.argv[1].partition("/#k=")
request = urllib.request.Request(base + "/metrics", headers={"Authorization": "Bearer " + token})
for line in urllib.request.urlopen(request, timeout=60).read().decode().splitlines():
    if line.startswith("poolscope_pool_ready_seconds{"):
        print(line.split()[-1])' "$address"
}
begins() {
	echo "event $1 $2 nodeprep:start"
	echo "event $(($1 + 5)) $2 nodeprep:end"
	echo "event $(($1 + 10)) $2 cascade:start"
}
PARTITION='other$pool' records <<-'END'
	event 0 n1 work:start
END
{
	begins 0 n1
	begins 30 n2
} | records
answer "of nodes that are not ready" "" scraped
records <<-'END'
	event 100 n1 cascade:gr-done
	event 400 n2 cascade:gr-done
END
answer "the first start" 400 scraped
begins 86400 n1 | records
answer "the second has begun" "" scraped
echo "event 86450 n1 cascade:gr-done" | records
answer "it is ready" 50 scraped
{
	begins 86380 n2
	echo "event 86430 n2 cascade:gr-done"
} | records
answer "a node that began before it was late" 70 scraped
answer "the same for a textfile collector" "poolscope_pool_ready_seconds{partition=\"$PARTITION\"} 70" \
	sh -c 'poolscope stats metrics | grep "^poolscope_pool_ready_seconds{"'
stop web
