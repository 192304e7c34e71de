#!/bin/sh
# A limit of 0 is 0: nothing is left free, on a file system that has less free
# than the default of 64 MiB.  Where 0 is no value, the option is refused.
# Needs root for a small file system of its own.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

SMALL=$TMP/small
mkdir "$SMALL"
mount -t tmpfs -o size=24m tmpfs "$SMALL" || exit 1
_code=0
trap '_code=$?; umount -l "$SMALL"; (exit $_code); _end' EXIT

agent() {
	start agent poolscope-agent --no-samples --no-clock -p 'acct$pool' -n n1 \
		--spool "$SMALL/spool" --fallback "$SMALL/fallback" --spool-bytes 4MiB --drain 10ms "$@"
}
emit() {
	poolscope-emit --fallback "$SMALL/fallback" "$@" s e
}

agent || exit 1
check_status 75 "24 MiB are less than 64 MiB: nothing is accepted" emit
stop agent
check "... and the log names the option" grep -q 'must keep 67108864 (--free-bytes)' "$TMP/agent.log"
agent --free-bytes 0 || exit 1
check "--free-bytes 0: all of the file system may be used" emit
stop agent
POOLSCOPE_FREE_BYTES=0 agent || exit 1
check "the same from the environment" emit
stop agent
mkdir -p "$DIR"
echo 'agent { free_bytes = "1GiB" }' >"$DIR/poolscope.conf"
agent || exit 1
check_status 75 "1 GiB in the configuration: refused" emit
echo 'agent { free_bytes = "0" }' >"$DIR/poolscope.conf"
kill -HUP "$(pid agent)"
wait_until 'emit' || fail "0 after a reload"
check "0 in the configuration, after a reload" emit
stop agent

# Without an agent.
check_status 75 "the fallback queue leaves 64 MiB free" emit
check_printed "... and the sentence names the option" 'must keep 67108864 (--free-bytes)'
check "--free-bytes 0: all may be used" emit --free-bytes 0
check "the same from the environment" env POOLSCOPE_FREE_BYTES=0 poolscope-emit --fallback "$SMALL/fallback" s e
check "the same of a command's spans" poolscope-run --fallback "$SMALL/fallback" --free-bytes 0 true
check_text "three files wait" 3 "$(find "$SMALL/fallback/new" -type f | wc -l)"

wrong_usage "no spool of 0 bytes" "spool-bytes.* is at least 64KiB" poolscope-agent --spool-bytes 0
wrong_usage "no segments of 0 bytes" "segment-bytes.* is at least 16KiB" poolscope-agent --segment-bytes 0
wrong_usage "no map of 0 bytes" "map-bytes.* is at least 1MiB" poolscope-aggregator --map-bytes 0
check_status 2 "the same from the environment" env POOLSCOPE_MAP_BYTES=0 poolscope-aggregator
