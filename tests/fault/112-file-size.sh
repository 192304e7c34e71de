#!/bin/sh
# The size of files is limited (ulimit -f), as batch systems do: every program takes
# it for a full disk.  None is ended by SIGXFSZ, and what was accepted is stored when
# the limit has gone.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
command -v prlimit >/dev/null || {
	echo "SKIPPED: no prlimit"
	exit 0
}
KIB=1024

# limit NAME BYTES: what a process that runs may write.
limit() {
	prlimit --fsize="$2" --pid "$(pid "$1")"
}
emit() {
	timeout 60 poolscope-emit -p acct/pool test "$@"
}
text=$(head -c 4000 /dev/zero | tr '\0' x)
large() {
	emit large --message "$text" --wait accepted --timeout 2s --fallback "$TMP/none"
}
says_full() {
	grep -q full "$TMP/aggregator.log"
}
ACCEPTED=0
stored() {
	[ "$(poolscope-dump -p acct/pool --quiet | wc -l)" -eq "$ACCEPTED" ]
}
# Send events, COUNT of them or until one is refused.
fill() {
	_left=$1
	while [ "$_left" -gt 0 ] && large 2>/dev/null; do
		ACCEPTED=$((ACCEPTED + 1))
		_left=$((_left - 1))
	done
}

start aggregator poolscope-aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" \
	-p acct/pool -n node1 --segment-bytes 512KiB || exit 1
emit first --wait stored && ACCEPTED=1

# ---- the store
limit aggregator $((400 * KIB)):unlimited
fill 100
check "the aggregator runs although its files may not grow" alive aggregator
check "... and says so" wait_until says_full
limit aggregator unlimited:unlimited
check "without the limit everything that was accepted is stored" wait_until stored 60

# ---- the spool
limit agent $((300 * KIB)):unlimited
fill 400
check "the agent runs although its files may not grow" alive agent
check_status 75 "what it cannot store it does not accept" large
limit agent unlimited:unlimited
check "without the limit it accepts again" wait_until 'emit again --wait stored'
ACCEPTED=$((ACCEPTED + 1))
check "and everything that was accepted is stored" wait_until stored 60
stop agent
check_text "the agent ends as always" 0 "$STATUS"

# ---- the others
limited() {
	prlimit --fsize=4096 -- "$@"
}
check_status 1 "a dump says that its file is too large" \
	limited poolscope-dump -p acct/pool -o "$TMP/dump"
check_printed "... in a sentence" "File too large"
check_status 1 "a backup says so" limited poolscope-admin backup "$TMP/backup"
check_printed "... in a sentence" "File too large"
# shellcheck disable=SC2016 # for the other shell
check_status 153 "a command that poolscope-run starts is ended as without it" \
	sh -c 'prlimit --fsize=4096 -- poolscope-run -p acct/pool -n n1 -- head -c 100000 /dev/zero >"$0"; exit $?' "$TMP/head"
stop aggregator
check_text "the aggregator ends as always" 0 "$STATUS"
