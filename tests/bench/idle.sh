# idle - how often each process wakes up when there is nothing to do.
# Goal: at most 4 times a second, all threads together.
set -eu
cd "$(dirname "$0")/../.."
PATH=$PWD/${B:-build}/bin:$PATH
dir=$(mktemp -d /tmp/psi.XXXXXX)
trap 'poolscope down --dir "$dir"; rm -rf "$dir"' EXIT
poolscope up --dir "$dir" --agent >/dev/null

switches() {
	awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/"$1"/task/*/status
}

seconds=20
# The first seconds settle connections and the first samples.
timeout 3 tail -f /dev/null || true
for name in agent broker aggregator; do
	read -r pid <"$dir/run/$name.pid"
	eval "$name=$pid before_$name=$(switches "$pid")"
done
timeout "$seconds" tail -f /dev/null || true
for name in agent broker aggregator; do
	before=0
	eval "pid=\$$name before=\$before_$name"
	awk -v name="$name" -v n="$(($(switches "$pid") - before))" -v s="$seconds" \
		-v rss="$(awk '/RssAnon/ { print $2 }' "/proc/$pid/status")" \
		'BEGIN { printf "idle: %s wakes %.1f times a second (goal 4), %d KiB of its own\n", name, n / s, rss }'
done
