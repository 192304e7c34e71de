#!/bin/sh
# The Model Context Protocol by HTTP, as /mcp of poolscope web: what is answered how, who may
# ask, which page may not, and how often a token may.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are parts of names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

check "an aggregator" start aggregator poolscope-aggregator || exit 1
for pool in pool other; do
	printf 'event 0 n1 a:b\nevent 1 n2 a:b\n' |
		/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "acct\$$pool"
done
wait_until '[ "$(poolscope stats pools --format csv --columns partition,records | grep -c ",2$")" = 2 ]' 30
poolscope keys token one -p 'acct$pool' >"$TMP/token" 2>/dev/null || exit 1

# web [OPTION...]: start it; sets PORT and TOKEN.
web() {
	: >"$TMP/web.log"
	start web poolscope-web --listen 127.0.0.1:0 "$@" || exit 1
	wait_until 'grep -q "^http://" "$TMP/web.log"'
	PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
	TOKEN=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
	export PORT TOKEN
}
client() {
	ONE=$(grep -oE '^[0-9A-Za-z_-]{30,}$' "$TMP/token" | tail -n 1) \
		/usr/bin/python3 "$ROOT/tests/flow/mcp_web.py" "$@"
}

web --request-rate 0
AGGREGATOR=$(pid aggregator)
export AGGREGATOR
for case in messages rights origins lengths versions shares; do
	check "$case" client "$case"
done
stop web
# 20 a second, and a burst of ten seconds: 200 questions; a message counts as ten.
web --request-rate 20
check "limits" client limits
stop web
check_status 2 "no rate" poolscope-web --request-rate many

stop aggregator
web --store "$DIR/store"
check "of a store" client store
stop web
