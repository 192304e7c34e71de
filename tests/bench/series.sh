# series - one metric of 1,000 nodes x 1 h (a sample a second) out of a store:
# while the hour's records lie as they came, and after they were compacted.  Next to
# it what the store of 14.4 million samples takes, and the pictures' time.
#
#   NODES=100 RUNS=5 sh tests/bench/series.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
nodes=${NODES:-1000}
runs=${RUNS:-3}
pool=bench\$pool
tmp=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/poolscope.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

metrics() {
	for step in 60 10 1; do
		"$B/bench/series" read "$tmp" system.cpu.time.user "$step" "$runs"
	done
}

"$B/bench/series" fill "$tmp" "$nodes" 3600
echo "-- as they came ($nodes nodes)"
metrics
poolscope-admin compact --dir "$tmp" --log warn
echo "-- compacted (goal for 1,000 nodes: 50 ms)"
metrics
echo "-- programs, from the compacted store"
for what in "plot samples -m system.cpu.time.user -q" "plot usage -q" "stats usage -o $tmp/usage"; do
	# shellcheck disable=SC2086 # a command with its arguments
	set -- $what
	[ "$1" = stats ] || set -- "$@" -o "$tmp/out"
	program=poolscope-$1
	shift
	begin=$(date +%s.%N)
	"$program" "$@" --dir "$tmp" -p "$pool"
	end=$(date +%s.%N)
	echo "$program $1: $(echo "$begin $end" | awk '{ printf "%.2f s", $2 - $1 }')"
done
