# peers - what else Debian has for the same work, side by side on this machine:
# VictoriaMetrics takes in the same samples and stores them; collectd and the
# Prometheus node exporter sample the same host in the same minute.
#
#   NODES=200 SECONDS_EACH=30 sh tests/bench/peers/run.sh
#
# What is not installed is fetched with apt-get download into a temporary
# folder, so that no service begins to run here; what cannot be had is left out.
# FETCH=1 fetches all of it.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
set -eu
cd "$(dirname "$0")/../../.."
B=${B:-build}
PATH=$PWD/$B/bin:/usr/sbin:$PATH
export PATH
nodes=$(((${NODES:-200} + 15) / 16 * 16))
seconds=${SECONDS_EACH:-30}
port=${PEERS_PORT:-18428}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$tmp/i
export POOLSCOPE_DIR
running=
trap 'end_all; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

helper() {
	/usr/bin/python3 tests/bench/peers/peers.py "$@"
}

end_all() {
	poolscope down >/dev/null 2>&1 || true
	for pid in $running; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	running=
}

# find_peer PROGRAM PACKAGE: its path is in $peer; 1: it is not to be had.
find_peer() {
	if [ -z "${FETCH:-}" ] && peer=$(command -v "$1"); then
		return 0
	fi
	echo "fetching with apt-get download: $2" >&2
	mkdir -p "$tmp/root"
	if (cd "$tmp" && apt-get download -qq "$2" && dpkg -x "$2"_*.deb root) \
		>"$tmp/fetch.log" 2>&1; then
		peer=$(find "$tmp/root" -type f -path "*bin/$1" -perm -u+x | head -n 1)
		[ -z "$peer" ] || return 0
	fi
	tail -n 3 "$tmp/fetch.log" >&2
	echo "$1 is not to be had: left out"
	return 1
}

# wait_until SECONDS COMMAND...
wait_until() {
	until_s=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$until_s" ] || { echo "waited in vain for: $*" >&2; exit 1; }
		sleep 0.1
	done
}

answers() {
	/usr/bin/python3 -c 'import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{sys.argv[2]}", timeout=30).read()' "$1" "$2"
}

indexed() {
	tests/flow/counters.py |
		/usr/bin/python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["store"]["indexing_lag"] != 0)'
}

# line NAME RATE BYTES RATE0 BYTES0: the last two are poolscope's.
line() {
	awk -v name="$1" -v rate="$2" -v bytes="$3" -v rate0="$4" -v bytes0="$5" 'BEGIN {
		printf "%-34s%8.2f million values/s%8.2f bytes a value   ratio %6.2f %6.2f\n",
			name, rate / 1e6, bytes, rate / rate0, bytes / bytes0
	}'
}

values=$((nodes * 1500 * 24))
echo "$nodes nodes, 1500 samples of 24 metrics each, 1 a second: $((values / 1000000)) million values"

# ---- take in and keep: ours
poolscope up >/dev/null
rate=$("$B/bench/samples" "$nodes" "$POOLSCOPE_DIR" | sed -n 's/^samples: \([0-9.]*\) million.*/\1e6/p')
[ -n "$rate" ] || { echo "poolscope did not take the samples" >&2; exit 1; }
wait_until 120 indexed
poolscope down
poolscope-admin compact -q
poolscope-admin vacuum -q
# per_value TABLE...: bytes on disk; the other has no rollups.
per_value() {
	tests/flow/counters.py --store "$tmp/i/store" |
		/usr/bin/python3 -c 'import json, sys
store = json.load(sys.stdin)["store"]
print(sum(store["bytes_" + t] for t in sys.argv[2:]) / int(sys.argv[1]))' "$values" "$@"
}
bytes=$(per_value chunks row_blocks names entities meta)
line "poolscope (fsync, ns; compacted)" "$rate" "$bytes" "$rate" "$bytes"
awk -v t="$(per_value rollup_1min rollup_1h)" 'BEGIN { printf "%-59s%8.2f bytes a value\n", "  its rollups (1 min, 1 h)", t }'
rm -rf "$tmp/i"

# ---- take in and keep: VictoriaMetrics
if find_peer victoria-metrics victoria-metrics; then
	helper lines "$nodes" "$tmp/lines"
	"$peer" -storageDataPath="$tmp/vm" -httpListenAddr="127.0.0.1:$port" \
		-retentionPeriod=100y -memory.allowedBytes=256MB >"$tmp/vm.log" 2>&1 &
	vm=$!
	running="$running $vm"
	wait_until 30 answers "$port" /health
	took=$(helper post "$port" "$tmp/lines")
	answers "$port" /internal/force_flush
	answers "$port" /internal/force_merge
	kill "$vm"
	wait "$vm" || true
	vm_rate=$(awk -v v="$values" -v s="$took" 'BEGIN { print v / s }')
	vm_bytes=$(awk -v b="$(helper bytes "$tmp/vm/data")" -v v="$values" 'BEGIN { print b / v }')
	line "victoria-metrics (not synced, ms)" "$vm_rate" "$vm_bytes" "$rate" "$bytes"
	rm -rf "$tmp/vm" "$tmp/lines"
fi

# ---- sample a host once a second, for the same time
POOLSCOPE_PERIOD=1s poolscope up --agent >/dev/null
poolscope emit bench peers --wait stored --timeout 60s
who="poolscope-agent=$(cat "$tmp/i/run/agent.pid")"
if find_peer collectd collectd-core; then
	root=${peer%/usr/sbin/collectd}
	{
		echo "BaseDir \"$tmp\""
		echo "PluginDir \"$root/usr/lib/collectd\""
		echo "TypesDB \"$root/usr/share/collectd/types.db\""
		echo "PIDFile \"$tmp/collectd.pid\""
		echo "Interval 1"
		for plugin in cpu memory load disk interface df network; do
			echo "LoadPlugin $plugin"
		done
		echo '<Plugin network>'
		echo '  Server "127.0.0.1" "25826"'
		echo '</Plugin>'
	} >"$tmp/collectd.conf"
	"$peer" -f -C "$tmp/collectd.conf" >"$tmp/collectd.log" 2>&1 &
	running="$running $!"
	who="$who collectd(6_plugins,network)=$!"
fi
if find_peer prometheus-node-exporter prometheus-node-exporter; then
	"$peer" --web.listen-address="127.0.0.1:$((port + 1))" >"$tmp/exporter.log" 2>&1 &
	who="$who node-exporter(scraped_1/s)=$!"
	running="$running $!"
	wait_until 30 answers "$((port + 1))" /metrics
	helper scrape "$((port + 1))" "$((seconds + 10))" &
	running="$running $!"
fi
sleep 5 # all have begun
# shellcheck disable=SC2086 # a list of words
helper cost "$seconds" $who
