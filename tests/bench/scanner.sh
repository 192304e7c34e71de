# scanner - a profiled job of 1.02 million intervals: import, statistics and
# traces, each next to its limit.  What the older tool takes for the same, with all
# of it in its memory, is from the same kind of machine when it was quiet.
#
#   SCALE=0.1 RUNS=3 sh tests/bench/scanner.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
. "$(dirname "$0")/lib.sh"
scale=${SCALE:-1}

# compare NAME GOAL OLDER COMMAND...
compare() {
	name=$1
	GOAL=$(printf '   goal %-14solder tool %s' "$2" "$3")
	export GOAL
	shift 3
	measure "$name" "$@"
}

/usr/bin/python3 tests/golden/scanner/s10_generated_1m/gen.py --scale "$scale" --out "$TMP/db"
poolscope up >/dev/null
echo "$(du -sm "$TMP/db" | cut -f 1) MiB of profiles, best of $RUNS"
all=$RUNS
RUNS=1
for run in $(seq "$all"); do
	compare "import $run, acknowledged" "1.5 s, 32 MiB" "0.51 s, 155 MiB (memory only)" \
		poolscope-import -q scanner -p "bench\$$run" --job 7 "$TMP/db"
	wait_indexed
done
RUNS=$all
for how in aggregator compacted; do
	if [ "$how" = compacted ]; then
		poolscope down >/dev/null
		poolscope-admin compact -q
		poolscope up >/dev/null
		# The first one maps what the others find there.
		poolscope-stats scanner --format json -q -p 'bench$1' --job 7 -o "$TMP/numbers"
	fi
	echo "-- $how"
	compare statistics "0.005 s" "0.09 s" poolscope-stats scanner --format json -q -p 'bench$1' --job 7 -o "$TMP/numbers"
	compare .trace "0.6 s, 32 MiB" "3.9 s, 825 MiB" \
		poolscope-trace -q scanner -p 'bench$1' --job 7 -o "$TMP/job.trace"
	compare .tar.gz "2.0 s, 32 MiB" "8.3 s, 825 MiB" \
		poolscope-trace -q scanner -p 'bench$1' --job 7 -o "$TMP/job.tar.gz"
	compare "timeline .pftrace" "0.4 s, 32 MiB" "none" \
		poolscope-trace -q -p 'bench$1' -o "$TMP/job.pftrace"
done
poolscope down >/dev/null
echo "-- store (mapped), compacted"
compare statistics "0.005 s" "0.09 s" poolscope-stats scanner --format json -q --store "$TMP/i/store" -p 'bench$1' --job 7 -o "$TMP/numbers"
compare .trace "0.6 s, 32 MiB" "3.9 s, 825 MiB" \
	poolscope-trace -q scanner --store "$TMP/i/store" -p 'bench$1' --job 7 -o "$TMP/job.trace"
compare "timeline .pftrace" "0.4 s, 32 MiB" "none" \
	poolscope-trace -q --store "$TMP/i/store" -p 'bench$1' -o "$TMP/job.pftrace"
for file in trace tar.gz pftrace; do
	echo "$(($(wc -c <"$TMP/job.$file") >> 10)) KiB .$file"
done
echo "goal: .pftrace is a fifth of .trace"
