#!/bin/sh
# Sums of processor times that jump while the host runs on: it slept, lost
# processors and got them back, was moved to another host.  Four processors;
# what they used is counted, what they cannot have used never is.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HOST=$TMP/proc
mkdir -p "$HOST/sys/kernel/random" "$TMP/cgroup/docker/a"
echo '01234567-89ab-cdef-0123-456789abcdef' >"$HOST/sys/kernel/random/boot_id"

# stat USER IDLE IOWAIT STEAL PROCESSOR...: written in place, as the kernel's file is.
stat() {
	{
		echo "cpu  $1 0 0 $2 $3 0 0 $4 0 0"
		shift 4
		for each in "$@"; do echo "cpu$each 0 0 0 0 0 0 0 0 0 0"; done
		echo 'ctxt 1'
	} >"$TMP/stat"
	cat "$TMP/stat" >"$HOST/stat"
}
# samples N: of group cpu, until there are N more than now.
more() {
	_had=$(poolscope-dump -q -p "$pool" --kind sample --name cpu | wc -l)
	wait_until "[ \$(poolscope-dump -q -p '$pool' --kind sample --name cpu | wc -l) -ge $((_had + $1)) ]" 30
}
# begin POOL: an agent with the first numbers.
begin() {
	pool=$1
	rm -rf "$DIR/spool"
	stat 100000 4000000 200000 500 0 1 2 3
	start agent poolscope-agent -p "$pool" -n n1 --no-clock --proc "$HOST" --period 200ms \
		--cgroup-root "$TMP/cgroup" --cgroups 'docker/*' --send-interval 100ms --metric-groups cpu,cgroup
	wait_until "poolscope-dump -q -p '$pool' --kind sample --name cpu | grep -q cpu" 30
	more 3
}
# judge NAME: no more than the four processors can, and no rate either.
judge() {
	more 3
	stop agent
	poolscope-stats -q usage -p "$pool" --format json >"$TMP/usage.json"
	poolscope-stats -q metrics -p "$pool" --metrics nodes >"$TMP/metrics"
	poolscope-stats -q samples -p "$pool" -m 'system.cpu.time.*' --format csv >"$TMP/samples"
	check_text "$1" "none" "$(/usr/bin/python3 - "$TMP" <<'END'
import csv, json, re, sys
wrong = []
row = json.load(open(sys.argv[1] + "/usage.json"))["rows"][0]
hours = (row["seconds"] or 0) * 4 / 3600 + 0.02
for name in "cpu_hours_used", "cpu_hours_unused":
    if row[name] is not None and not 0 <= row[name] <= hours:
        wrong.append("%s %g of %g" % (name, row[name], hours))
for line in open(sys.argv[1] + "/metrics"):
    found = re.match(r"(system_cpu_\w+_ratio)\{.*\} (\S+)", line)
    if found and found[1] == "system_cpu_iowait_ratio" and float(found[2]) > 0.5:
        wrong.append(line.strip())
for r in csv.DictReader(open(sys.argv[1] + "/samples")):
    if r["unit"] != "%":
        wrong.append("%s in %s" % (r.get("metric"), r["unit"]))
    for key in r:
        if "max" in key or "high" in key:
            try:
                # Per cent of all; half as much again is a matter of when.
                if float(r[key]) > 100 * 1.5:
                    wrong.append("%s %s" % (r.get("metric"), r[key]))
            except ValueError:
                pass
print("; ".join(wrong) or "none")
END
)"
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

begin 'a$slept'
# Three of four were set up again: idle and iowait are a quarter.
stat 100010 1000000 50000 500 0 1 2 3
judge "after a suspend"

begin 'a$offline'
stat 50000 2000000 100000 250 0 1
more 3
stat 50010 2000020 100000 250 0 1
judge "after two processors went offline"

# What came back with them: 20 s of 2 processors, each state within what four
# could do since the start, so that only the processors show it.
begin 'a$online'
stat 99000 3999000 199900 500 0 1
more 3
stat 99070 3999080 199980 500 0 1 2 3
more 1
check "other processors are another epoch" wait_until \
	'[ "$(poolscope-dump -q -p "$pool" --kind sample --name cpu --format long |
		grep poolscope.boot | sed "s/.*,//" | sort -u | wc -l)" -ge 2 ]' 10
judge "after two processors came online"

# 2,000 s of user time and steal at once.
begin 'a$moved'
stat 300000 4000000 200000 200500 0 1 2 3
judge "after a move to another host"

# The same between two processors' states: each of these could be.
begin 'a$many'
stat 100300 4000300 200300 800 0 1 2 3
judge "when all states grow by 3 s at once"

# A group of four processors cannot use 4,000 s at once either; that of a
# container that was made again begins at 0.
printf 'usage_usec 5000000\nuser_usec 5000000\nsystem_usec 0\n' >"$TMP/cgroup/docker/a/cpu.stat"
begin 'a$group'
printf 'usage_usec 4005000000\nuser_usec 5000000\nsystem_usec 0\n' >"$TMP/cgroup/docker/a/cpu.stat"
more 3
rm -r "$TMP/cgroup/docker/a"
mkdir "$TMP/cgroup/docker/a"
printf 'usage_usec 1000\nuser_usec 1000\nsystem_usec 0\n' >"$TMP/cgroup/docker/a/cpu.stat"
more 3
stop agent
check_text "a group used 1 ms since it was made again, and no 4,000 s before" 0.001 "$(
	poolscope-stats -q series -p "$pool" -m container.cpu.time --step 1h --format csv >"$TMP/series" 2>"$TMP/why" || cat "$TMP/why"
	poolscope-dump -q -p "$pool" --kind sample --name 'cgroup/*' --format long | /usr/bin/python3 -c '
import csv, sys
boot = last = None
used = 0
by_time = {}
for r in csv.DictReader(sys.stdin):
    by_time.setdefault(r.get("time") or r.get("ts") or r.get("time_ns"), {})[r["metric"]] = int(r["value"] or -1)
for t in sorted(by_time):
    v, b = by_time[t]["container.cpu.time"], by_time[t]["poolscope.boot"]
    # As proto/wire.md has it: nothing is known between epochs.
    if last is not None and b == boot:
        used += v - last if v >= last else v
    boot, last = b, v
print(used / 1e6)')"
