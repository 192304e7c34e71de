#!/bin/sh
# An agent samples every second while its node or a job of it starts (--dense), and
# at its period at other times.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2317 # quoted for wait_until
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"

HOST=$TMP/proc CGROUPS=$TMP/cgroup
mkdir -p "$HOST" "$CGROUPS/jobs"
echo 'cpu  1 2 3 4 5 6 7 8 0 0' >"$HOST/stat"
taken() {
	stored 'r["record"][0]' "r['kind'] == 2 and r['record'][1] == '${1:-cpu}'"
}
count() { taken "$@" | wc -l; }
# An hour's period: whatever is sampled in this test is sampled because of --dense, or
# has a period of its own.
agent() {
	: >"$OUT"
	rm -rf "$DIR/spool"
	start agent poolscope-agent --broker "$AGGREGATOR" -p acct/pool -n node1 --proc "$HOST" \
		--cgroup-root "$CGROUPS" --cgroups 'jobs/*' --period 1h --send-interval 100ms \
		--metric-groups cpu,load=200ms,cgroup=1s "$@"
}
# quiet WHAT: load was sampled 15 times more, and cpu not at all.
quiet() {
	before=$(count) goal=$(($(count load) + 15))
	wait_until '[ "$(count load)" -ge "$goal" ]' 30 >/dev/null
	check_text "$1" "$before" "$(count)"
}
echo '0.50 0.40 0.30 1/20 99' >"$HOST/loadavg"
start_aggregator || exit 1

check "an agent starts" agent --dense 3s
check "it samples at once, every second" wait_until '[ "$(count)" -ge 3 ]' 30
check "... at a time of each second that its name decides" /usr/bin/python3 - "$(taken | tr '\n' ' ')" <<'END'
import sys
times = [int(t) for t in sys.argv[1].split()]
off = [(t - times[0] + 500_000_000) % 1_000_000_000 - 500_000_000 for t in times]
assert max(map(abs, off)) < 300_000_000, off
END
# The last dense sample lies before the end of the three seconds.
# shellcheck disable=SC2034 # for wait_until
goal=$(($(count load) + 20))
wait_until '[ "$(count load)" -ge "$goal" ]' 30 >/dev/null
quiet "... for so long only"
poolscope-emit other start -a job=6
poolscope-emit job start -a job=7 -n node2
quiet "nor for another event, or another node's job"
before=$(count)
poolscope job start 7
check "and again when a job of the node begins" wait_until '[ "$(count)" -ge $((before + 3)) ]' 30
# shellcheck disable=SC2034 # for wait_until
goal=$(($(count load) + 20))
wait_until '[ "$(count load)" -ge "$goal" ]' 30 >/dev/null
quiet "... for so long only"
before=$(count)
mkdir -p "$CGROUPS/jobs/job_8"
printf 'usage_usec 30\nuser_usec 20\nsystem_usec 10\n' >"$CGROUPS/jobs/job_8/cpu.stat"
check "and when a batch system makes a control group for one" wait_until '[ "$(count)" -ge $((before + 3)) ]' 60
stop agent

check "an agent starts that shall not" agent --dense 0
quiet "it keeps its period"
poolscope job start 9
quiet "... also when a job begins"
stop agent
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
