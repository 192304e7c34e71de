#!/bin/sh
# The head keeps records for 30 days.  Its clock jumps ten years ahead for some
# seconds, and is put right again.  Three events are of this hour; 30 days before
# the false time is ten years in the future, but what was accepted may not go: all
# three are there in the end.  Meanwhile the status says that nothing is deleted, and
# by how much the clock is ahead: ten years of 365.25 days are 87,660 hours.
# An event that is 40 days old stays meanwhile, and goes when the aggregator starts at
# the right time.  However far the clock is ahead, it is trusted at once when an
# administrator says so: then the three events go, as they are ten years old.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$TMP/clock.c" <<-'END'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <time.h>
	#include <unistd.h>
	static const char *hours; /* mapped before the sandbox closes */
	__attribute__((constructor)) static void map(void)
	{
		int fd = open(getenv("CLOCK_HOURS"), O_RDONLY | O_CLOEXEC);
		hours = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	int clock_gettime(clockid_t id, struct timespec *now)
	{
		long rc = syscall(SYS_clock_gettime, id, now);
		if (id == CLOCK_REALTIME && hours != NULL)
			now->tv_sec += atol(hours) * 3600;
		return (int)rc;
	}
END
cc -shared -fPIC -O1 -o "$TMP/clock.so" "$TMP/clock.c" || exit 1
CLOCK_HOURS=$TMP/hours
export CLOCK_HOURS
head -c 4096 /dev/zero >"$CLOCK_HOURS"

# set_clock HOURS: what the head's clock is ahead from now on.
set_clock() {
	printf '%012d' "$1" | dd of="$CLOCK_HOURS" conv=notrunc 2>"$TMP/err"
}

# jump HOURS: the same, and retention looks at it.
jump() {
	set_clock "$1"
	kill -HUP "$(pid aggregator)"
}

# with_clock COMMAND...: run with the clock of the head.
with_clock() {
	ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" LD_PRELOAD="$TMP/clock.so" "$@"
}

status() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		/usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["aggregator"][sys.argv[2]])' "$TMP/status" "$1"
}

events() {
	poolscope-dump --kind event --format csv | tail -n +2 | wc -l
}

start_head() {
	with_clock start aggregator poolscope-aggregator --retain 30d "$@" || exit 1
}
start_head
BASE=$(date +%s)
records <<-'END'
	event 0 n1 work:a
	event 1 n2 work:b
	event 2 n3 work:c
END
check_text "the clock is trusted" False "$(status retention_stopped)"
jump 87660
check "the status says that nothing is deleted by age" \
	wait_until '[ "$(status retention_stopped)" = True ]'
check_text "... and how far the clock is ahead" 87660 \
	"$((($(status clock_ahead_ns) / 1000000000 + 1800) / 3600))"
check "... and the log" grep -q "nothing is deleted by age: the clock is 87660 hours ahead" \
	"$TMP/aggregator.log"
check_status 3 "a monitor is warned" poolscope-stats status
check_printed "... in words" "^warning: the clock of the host jumped, nothing is deleted by age; .*; it is 3652.5 d ahead$"
timeout 4 tail -f /dev/null
check_text "nothing was deleted" 3 "$(events)"
BASE=$((BASE - 40 * 86400))
records <<-'END'
	event 0 n1 work:old
END
check_text "nothing is deleted while it lasts, old or not" 4 "$(events)"

jump 0
check "the clock is back" wait_until '[ "$(status retention_stopped)" = False ]'
check "the log says that it is over" grep -q "the clock is trusted again" "$TMP/aggregator.log"
stop aggregator
start_head
check "after a restart at the right time, what is old is deleted" \
	wait_until '[ "$(events)" = 3 ]'

# The same across a restart: the store knows the time.
stop aggregator
set_clock 87660
start_head
check "a jump during a restart is seen" wait_until '[ "$(status retention_stopped)" = True ]'
check_text "... and nothing is deleted" 3 "$(events)"

# Ten years later: the operator knows it.
check "an administrator says that the clock is right" with_clock poolscope-admin retain-now
check "the clock is trusted" wait_until '[ "$(status retention_stopped)" = False ]'
check "what is ten years old is deleted" wait_until '[ "$(events)" = 0 ]'

# A head that keeps records for ever, after a night without power: nothing waits for the clock.
stop aggregator
: >"$TMP/aggregator.log"
set_clock $((87660 + 12))
with_clock start aggregator poolscope-aggregator || exit 1
check "without a limit of age the clock is looked at, too" \
	wait_until '[ "$((($(status clock_ahead_ns) / 1000000000 + 1800) / 3600))" = 12 ]'
check_text "... and the status says of nothing that it waits for it" False "$(status retention_stopped)"
check_status 1 "... in the log neither" grep -q "deleted by age" "$TMP/aggregator.log"
