# agent - what the agent costs: at 1 Hz with its default metric groups, sent to a
# broker and an aggregator, over a minute; then its memory at full load,
# 400,000 events through its local socket as fast as they come.
# Goals: 0.8 ms of CPU a second and 2.5 MB PSS; 6 MiB.
set -eu
cd "$(dirname "$0")/../.."
PATH=$PWD/${B:-build}/bin:$PATH
dir=$(mktemp -d /tmp/psa.XXXXXX)
trap 'poolscope down --dir "$dir"; rm -rf "$dir"' EXIT
POOLSCOPE_PERIOD=1s poolscope up --dir "$dir" --agent >/dev/null
read -r pid <"$dir/run/agent.pid"

# Nanoseconds on a processor, all threads together.
used() {
	cat /proc/"$pid"/task/*/schedstat | awk '{ n += $1 } END { print n }'
}

# The first seconds define sets and settle connections.
timeout 12 tail -f /dev/null || true
seconds=${SECONDS_IDLE:-60}
before=$(used)
timeout "$seconds" tail -f /dev/null || true
awk -v n="$(($(used) - before))" -v s="$seconds" 'BEGIN {
	printf "agent: %.2f ms of CPU a second at 1 Hz (goal 0.8)\n", n / s / 1e6 }'
awk '/^Pss:/ { p = $2 } /^Private_Dirty:/ { d = $2 } END {
	printf "agent: %.2f MB PSS at 1 Hz (goal 2.5), %.2f MB of its own\n", p * 1024 / 1e6, d * 1024 / 1e6 }' \
	"/proc/$pid/smaps_rollup"

awk 'BEGIN { for (i = 0; i < 400000; i++) print "cascade pull-start img=i" i % 50 ",size=" i }' |
	poolscope-emit --dir "$dir" --stdin --wait stored --timeout 60s &
load=$!
most=0
while kill -0 "$load" 2>/dev/null; do
	now=$(awk '/RssAnon/ { print $2 }' "/proc/$pid/status")
	[ "$now" -le "$most" ] || most=$now
done
wait "$load"
awk -v own="$most" '/VmHWM/ { printf "agent: %.1f MiB of its own at full load (goal 6), %.1f MiB peak with its libraries\n", own / 1024, $2 / 1024 }' "/proc/$pid/status"
