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
echo "-- an open hour of ten times as many nodes, a sample in 10 s (goal for 10,000: 100 ms)"
"$B/bench/series" fill "$tmp/open" $((10 * nodes)) 3590 10 open
for metric in system.cpu.time.user system.memory.usage.used; do
	"$B/bench/series" read "$tmp/open" "$metric" 60 "$runs"
done
rm -rf "$tmp/open"
echo "-- programs, from the compacted store"
# measured DIR: the programs in it.
measured() {
	for what in "plot samples -m system.cpu.time.user -q" "plot usage -q" "stats usage" "stats samples -m system.cpu.time.user"; do
		# shellcheck disable=SC2086 # a command with its arguments
		set -- "$1" $what
		dir=$1
		name="$2 $3"
		program=poolscope-$2
		shift 2
		/usr/bin/python3 tests/bench/measure.py "$runs" "$name" "$dir/$program" "$@" -o "$tmp/out.$program" --dir "$tmp" -p "$pool"
		set -- "$dir"
	done
}
measured "$B/bin"
echo "goal: stats usage 0.3 s (it was 1.44 s, half of it clearing a buffer at each row)"
if [ -n "${OTHER:-}" ]; then
	echo "-- the same, by the programs of another build"
	measured "$OTHER"
	for format in table json csv; do
		for dir in "$B/bin" "$OTHER"; do
			"$dir/poolscope-stats" usage --format $format --dir "$tmp" -p "$pool" 2>/dev/null | cksum
		done | uniq | wc -l | grep -qx 1 || { echo "stats usage --format $format is not the same" >&2; exit 1; }
	done
fi
