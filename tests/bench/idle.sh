# idle - how often each process wakes up when there is nothing to do: agent,
# broker and aggregator over the same 20 s, the agent sampling its host as it
# does by default.
# Goal: at most 4 times a second, all threads together.
set -eu
cd "$(dirname "$0")/../.."
PATH=$PWD/${B:-build}/bin:$PATH
dir=$(mktemp -d /tmp/psi.XXXXXX)
trap 'poolscope down --dir "$dir"; rm -rf "$dir"' EXIT
# Not as it does while it starts.
POOLSCOPE_DENSE=0 poolscope up --dir "$dir" --agent >/dev/null
# All connections stand when an event has gone all the way and back.
poolscope emit --dir "$dir" bench idle --wait stored --timeout 60s

# Being preempted by another process is no waking up.
wakes() {
	cat "/proc/$1/task"/*/status |
		awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n + 0 }'
}

seconds=20
began=$(date +%s.%N)
for name in agent broker aggregator; do
	read -r pid <"$dir/run/$name.pid"
	eval "$name=$pid before_$name=$(wakes "$pid")"
done
timeout "$seconds" tail -f /dev/null || true
for name in agent broker aggregator; do
	before=0
	eval "pid=\$$name before=\$before_$name"
	awk -v name="$name" -v n="$(($(wakes "$pid") - before))" \
		-v began="$began" -v now="$(date +%s.%N)" \
		-v rss="$(awk '/RssAnon/ { print $2 }' "/proc/$pid/status")" \
		'BEGIN { s = now - began; printf "idle: %s wakes %.1f times a second over %.0f s (goal 4), %d KiB of its own\n", name, n / s, s, rss }'
done
