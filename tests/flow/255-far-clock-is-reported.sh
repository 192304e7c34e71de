#!/bin/sh
# The clock of a node is five hours ahead.  Its agent measures that, and reports once that its samples
# are stored under times that are between 4 and 8 hours (14,400 and 28,800 s) off: the aggregator's
# clock is behind its own.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$TMP/clock.c" <<'END'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now)
{
	long rc = syscall(SYS_clock_gettime, id, now);
	if (id == CLOCK_REALTIME)
		now->tv_sec += 5 * 3600;
	return (int)rc;
}
END
check "a clock of our own is made" cc -shared -fPIC -o "$TMP/clock.so" "$TMP/clock.c"
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
LD_PRELOAD=$TMP/clock.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 start agent poolscope-agent \
	-p 'acct$far' -n n1 --period 100ms --send-interval 100ms --metric-groups cpu || exit 1
reported() {
	poolscope-dump -q -p 'acct$far' --kind entity --name 'clock:*' --format jsonl |
		grep -oE '"(least|greatest)_ns": *-?[0-9]+' | tr -d ' ' | sort | xargs
}
check "it is reported" wait_until '[ -n "$(reported)" ]' 30
check_text "... as 4 to 8 hours" "greatest_ns:-14400000000000 least_ns:-28800000000000" "$(reported)"
stop agent
check_text "... and it is reported once" "greatest_ns:-14400000000000 least_ns:-28800000000000" "$(reported)"
