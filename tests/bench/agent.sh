# agent - memory of the agent at full load: 400,000 events through its door as
# fast as they come, spooled, shipped and acknowledged.
# Goal: 6 MiB.
set -eu
cd "$(dirname "$0")/../.."
PATH=$PWD/${B:-build}/bin:$PATH
dir=$(mktemp -d /tmp/psa.XXXXXX)
trap 'poolscope down --dir "$dir"; rm -rf "$dir"' EXIT
poolscope up --dir "$dir" --agent >/dev/null
read -r pid <"$dir/run/agent.pid"
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
