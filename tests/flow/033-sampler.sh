#!/bin/sh
# poolscope-agent's sampler: which sets, how often, when they go out; a host
# that is short of memory, one that is taken away, one with nothing in it.
# The host is a directory of files, so that it does what the test wants.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

HOST=$TMP/proc
mkdir -p "$HOST/pressure" "$HOST/self" "$HOST/net" "$HOST/sys/kernel/random"

# The files stay open in the agent: write into them, never replace them.
memory_pressure() {
	printf 'some avg10=%s avg60=0.00 avg300=0.00 total=1000\n' "$1" >"$HOST/pressure/memory"
	printf 'full avg10=0.00 avg60=0.00 avg300=0.00 total=500\n' >>"$HOST/pressure/memory"
}
cat >"$HOST/stat" <<'END'
cpu  300 0 100 600 0 0 0 0 0 0
cpu0 100 0 100 300 0 0 0 0 0 0
cpu1 200 0 0 300 0 0 0 0 0 0
ctxt 77
processes 5
procs_running 1
procs_blocked 0
END
printf 'MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 500 kB\n' >"$HOST/meminfo"
echo '0.50 0.40 0.30 1/20 99' >"$HOST/loadavg"
echo 'pgfault 10' >"$HOST/vmstat"
printf 'version 15\ncpu0 0 0 1 0 1 0 5 6 7\n' >"$HOST/schedstat"
for each in cpu io; do
	echo 'some avg10=0.00 avg60=0.00 avg300=0.00 total=9' >"$HOST/pressure/$each"
done
memory_pressure 0.00
echo '01234567-89ab-cdef-0123-456789abcdef' >"$HOST/sys/kernel/random/boot_id"
: >"$HOST/diskstats"
: >"$HOST/net/dev"
: >"$HOST/self/mountinfo"

agent() {
	start agent poolscope-agent --broker "$AGGREGATOR" -p acct/pool -n node1 \
		--proc "$HOST" --period 100ms --send-interval 100ms "$@"
}
# samples SET [EXPRESSION]: of each sample of it.
samples() {
	stored "${2:-r[\"record\"][2]}" "r[\"kind\"] == 2 and r[\"record\"][1] == \"$1\""
}
events() {
	stored 'r["record"][2]' 'r["kind"] == 1 and r["record"][1] == "agent"'
}
# How often the agent has read something.
reads() {
	awk '/syscr/ { print $2 }' "/proc/$(pid agent)/io"
}
# But of the clock, which has no period.
sets() {
	stored 'r["record"][1]' 'r["kind"] == 2 and r["record"][1] != "clock"' | sort -u | tr '\n' ' '
}

start_aggregator || exit 1

# ---- which sets
for wrong in "--metric-groups nonsense" "--metric-groups cpu=1ms" "--metric-groups cpu,,load" "--processes 65"; do
	# shellcheck disable=SC2086 # words
	check_status 2 "$wrong is refused" poolscope-agent $wrong
done
check "it starts with two sets" agent --metric-groups cpus,memory=200ms
check "which are sampled" wait_until '[ "$(sets)" = "cpu/0 cpu/1 memory " ]'
check_text "counters say which boot they are of" \
	"$((0x0123456789ab))" "$(samples cpu/1 'r["record"][2][0]' | sort -u)"
check_text "times are those of the processor" 200 \
	"$(samples cpu/1 'r["record"][2][1]' | sort -u)"
stop agent
: >"$OUT"
rm -rf "$DIR/spool"
check "it starts with all of them" agent --metric-groups all
check "a host without disks, network and jobs is sampled" wait_until \
	'[ "$(sets)" = "cpu cpu/0 cpu/1 load memory perf pressure schedstat self vmstat " ]' 30
check_text "the older monitor's numbers are there, zeros for what is not" \
	"50.0 0.0 0.0 0.0 0.0 0.0 0.0" \
	"$(samples perf 'tuple(r["record"][2][i] for i in (3, 5, 6, 7, 8, 9, 10))' | sort -u)"

# ---- what is plugged in
# A disk of this machine, as the sampler asks /sys about it.
disk=$(for d in /sys/block/*/device; do [ -e "$d" ] && basename "$(dirname "$d")" && break; done)
printf 'a\nb\n eth9: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n' >"$HOST/net/dev"
[ -z "$disk" ] || echo " 8 0 $disk 1 0 2048 0 1 0 4096 0 0 0 0" >"$HOST/diskstats"
check "an interface that is plugged in is sampled" wait_until \
	'samples network/eth9 "r[\"record\"][2][1:3]" | grep -q "\[100, 200\]"'
check_text "it is none of this machine: nothing is known of it" None \
	"$(samples network/eth9 'r["record"][2][-1]' | sort -u)"
[ -z "$disk" ] || check "and a disk" wait_until \
	'samples "disk/$disk" "r[\"record\"][2][1:3]" | grep -q "\[1048576, 2097152\]"'
printf 'a\nb\n eth9: 50 1 0 0 0 0 0 0 210 2 0 0 0 0 0 0\n' >"$HOST/net/dev"
check "a counter that wraps is stored as it is" wait_until \
	'samples network/eth9 "r[\"record\"][2][1:3]" | grep -q "\[50, 210\]"'
check "and added up in the older monitor's" wait_until \
	"samples perf 'r[\"record\"][2][10] * 1048576' | grep -qx 150.0"

# An interface of this machine, as the sampler asks /sys about it.
for each in /sys/class/net/*/device; do
	if [ ! -e "$each" ] || [ -e "${each%/device}/master/device" ]; then continue; fi
	interface=$(basename "${each%/device}")
	printf 'a\nb\n %s: 50 1 0 0 0 0 0 0 210 2 0 0 0 0 0 0\n' "$interface" >"$HOST/net/dev"
	check "an interface of this machine is physical" wait_until \
		'samples "network/$interface" "r[\"record\"][2][-1]" | grep -qx 1'
	break
done

# ---- short of memory
memory_pressure 45.50
check "under memory pressure the agent reports that it throttles sampling" wait_until \
	'events | grep -qx throttled'
check_text "and how much" "45.5 20.0 8" "$(stored \
	'tuple(r["record"][3][k] for k in ("pressure", "limit", "factor"))' \
	'r["kind"] == 1 and r["record"][2] == "throttled"')"
memory_pressure 15.00
before=$(samples cpu | wc -l)
check "it goes on, more rarely" wait_until \
	'[ "$(samples cpu | wc -l)" -ge $((before + 3)) ]' 30
# A sample that is taken late is followed by one that comes sooner.
widest=$(samples cpu 'r["record"][0]' | tail -n 4 | awk '
	NR > 1 && $1 - last > w { w = $1 - last }
	{ last = $1 }
	END { print int(w / 1e6 + 0.5) }')
check "about eight periods lie between two samples ($widest ms)" test "$widest" -ge 600
check_text "while the pressure is above half the limit" "" "$(events | grep throttled-end)"
memory_pressure 5.00
check "and back when it is over" wait_until 'events | grep -qx throttled-end' 30
stop agent
check_text "it ends with 0" 0 "$STATUS"

# ---- the send interval, and the end
: >"$OUT"
rm -rf "$DIR/spool"
check "it starts with a long send interval" agent --send-interval 10m --metric-groups cpu
wait_until 'samples cpu | grep -q .' >/dev/null
before=$(samples cpu | wc -l)
# shellcheck disable=SC2034 # for wait_until
reads=$(reads)
wait_until '[ "$(reads)" -ge $((reads + 30)) ]' >/dev/null
check_text "samples wait in memory" "$before" "$(samples cpu | wc -l)"
stop agent
check "TERM flushes them within its two seconds" test \
	"$(samples cpu | wc -l)" -ge $((before + 5))
: >"$OUT"
rm -rf "$DIR/spool"
agent --send-interval 10m --metric-groups cpu --preempt-file "$TMP/going"
wait_until 'samples cpu | grep -q .' >/dev/null
before=$(samples cpu | wc -l)
touch "$TMP/going"
check "a preemption notice flushes them, too" wait_until \
	'[ "$(samples cpu | wc -l)" -gt $before ] && events | grep -qx preempted'
check_text "and says what it was" "$TMP/going" "$(stored 'r["record"][3]["notice"]' \
	'r["kind"] == 1 and r["record"][2] == "preempted"')"
before=$(samples cpu | wc -l)
check "from then on none waits" wait_until '[ "$(samples cpu | wc -l)" -gt $((before + 3)) ]'
kill -USR1 "$(pid agent)"
check "so does the signal USR1" wait_until \
	'stored "r[\"record\"][3].get(\"notice\")" "r[\"kind\"] == 1" | grep -qx SIGUSR1'
stop agent
check_text "it still ends with 0" 0 "$STATUS"

# ---- a clock that jumps
cat >"$TMP/clock.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now)
{
	long rc = syscall(SYS_clock_gettime, id, now), seconds = 0;
	FILE *f;
	if (id == CLOCK_REALTIME && (f = fopen(getenv("CLOCK_OFFSET"), "r")) != NULL) {
		if (fscanf(f, "%ld", &seconds) == 1)
			now->tv_sec += seconds;
		fclose(f);
	}
	return (int)rc;
}
END
check "a clock of our own is made" cc -shared -fPIC -o "$TMP/clock.so" "$TMP/clock.c"
: >"$OUT"
rm -rf "$DIR/spool"
began=$(date +%s%3N)
# The address sanitizer wants to be loaded first, but can be talked to.
LD_PRELOAD=$TMP/clock.so CLOCK_OFFSET=$DIR/offset \
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 agent --metric-groups cpu
# hours_of HOURS: samples that a clock so far from ours has taken.
hours_of() {
	samples cpu 'r["record"][0]' | awk -v h="$1" -v now="$(date +%s)" \
		'{ d = ($1 / 1e9 - now) / 3600 - h; n += d > -0.5 && d < 0.5 } END { print n + 0 }'
}
for jump in 0 -3 5; do
	echo $((jump * 3600)) >"$DIR/offset"
	check "samples go on with the clock $jump hours away" wait_until \
		'[ "$(hours_of $jump)" -ge 5 ]'
done
stop agent
most=$((($(date +%s%3N) - began) / 100 + 2))
check "no jump makes a burst of samples" test "$(samples cpu | wc -l)" -le "$most"

# ---- jobs of a batch system
groups=$TMP/cgroup
mkdir -p "$groups/jobs/job_7/step_0"
printf 'usage_usec 30\nuser_usec 20\nsystem_usec 10\n' >"$groups/jobs/job_7/cpu.stat"
echo 4096 >"$groups/jobs/job_7/memory.current"
echo $$ >"$groups/jobs/job_7/step_0/cgroup.procs"
ln -s "/proc/$$" "$HOST/$$"
: >"$OUT"
rm -rf "$DIR/spool"
agent --metric-groups cgroup,process=100ms --cgroup-root "$groups" --cgroups 'jobs/job_*'
check "the control group of a job is sampled" wait_until \
	'samples cgroup/jobs/job_7 "r[\"record\"][2][1:7]" | grep -q "\[30, 20, 10, None, 4096, None\]"'
check "and its busiest commands" wait_until "sets | grep -q 'process/$(cat /proc/$$/comm) '"
stop agent
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
