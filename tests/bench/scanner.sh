# scanner - a profiled job of 1.02 million intervals: import, statistics and
# traces, each beside its limit.  What the older tool takes for the same, with all
# of it in its memory, is from the same kind of machine when it was quiet.
#
#   SCALE=0.1 RUNS=3 sh tests/bench/scanner.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
export PATH
scale=${SCALE:-1}
runs=${RUNS:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolscope.XXXXXX")
POOLSCOPE_DIR=$tmp/i
export POOLSCOPE_DIR
trap 'poolscope down >/dev/null 2>&1; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# measure NAME GOAL OLDER COMMAND...
measure() {
	name=$1
	beside=$(printf 'goal %-14solder tool %s' "$2" "$3")
	shift 3
	/usr/bin/python3 tests/bench/measure.py --beside "$beside" "$runs" "$name" "$@"
}

folded() {
	tries=1200
	until [ "$(poolscope-stats status --format json --quiet |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["store"]["lag"])')" = 0 ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "the fold does not end" >&2; exit 1; }
		sleep 0.1
	done
}

/usr/bin/python3 tests/golden/scanner/s10_generated_1m/gen.py --scale "$scale" --out "$tmp/db"
poolscope up >/dev/null
echo "$(du -sm "$tmp/db" | cut -f 1) MiB of profiles, best of $runs"
all=$runs
runs=1
for run in $(seq "$all"); do
	measure "import $run, acknowledged" "1.5 s, 32 MiB" "0.51 s, 155 MiB (memory only)" \
		poolscope-import -q scanner -p "bench\$$run" --job 7 "$tmp/db"
	folded
done
runs=$all
for how in aggregator sealed; do
	if [ "$how" = sealed ]; then
		poolscope down >/dev/null
		poolscope-aggregator -q --seal
		poolscope up >/dev/null
		# The first one maps what the others find there.
		poolscope-stats scanner -q -p 'bench$1' --job 7 -o "$tmp/numbers"
	fi
	echo "-- $how"
	measure statistics "0.005 s" "0.09 s" poolscope-stats scanner -q -p 'bench$1' --job 7 -o "$tmp/numbers"
	measure .trace "0.6 s, 32 MiB" "3.9 s, 825 MiB" \
		poolscope-trace -q scanner -p 'bench$1' --job 7 -o "$tmp/job.trace"
	measure .tar.gz "2.0 s, 32 MiB" "8.3 s, 825 MiB" \
		poolscope-trace -q scanner -p 'bench$1' --job 7 -o "$tmp/job.tar.gz"
	measure "timeline .pftrace" "0.4 s, 32 MiB" "none" \
		poolscope-trace -q -p 'bench$1' -o "$tmp/job.pftrace"
done
poolscope down >/dev/null
echo "-- store (mapped), sealed"
measure statistics "0.005 s" "0.09 s" poolscope-stats scanner -q --store "$tmp/i/store" -p 'bench$1' --job 7 -o "$tmp/numbers"
measure .trace "0.6 s, 32 MiB" "3.9 s, 825 MiB" \
	poolscope-trace -q scanner --store "$tmp/i/store" -p 'bench$1' --job 7 -o "$tmp/job.trace"
for file in trace tar.gz pftrace; do
	echo "$(($(wc -c <"$tmp/job.$file") >> 10)) KiB .$file"
done
echo "goal: .pftrace is a fifth of .trace"
