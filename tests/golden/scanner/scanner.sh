# scanner - recorded profiles of jobs through the real processes: import,
# broker, aggregator, stats, trace; every event, every number.
# Read by tests/golden/run.sh.  The generated job has a million intervals, or one
# in $SHARE of them; of the million the digest of the trace is known.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
scanner=$ROOT/tests/golden/scanner
SHARE=${SHARE:-1}

profiled() {
	/usr/bin/python3 "$scanner/scanner.py" "$@"
}

# traced NAME JOB EXPECTED FILE: the trace, and the numbers, of a partition
# golden$NAME are those of the case.
traced() {
	check "$1: is traced" poolscope-trace scanner -p "golden\$$1" --job "$2" -o "$TMP/$4" || return
	check "... with the recorded events" profiled trace "$scanner/$1/expected/$3" "$TMP/$4"
	check "$1: has numbers" poolscope-stats scanner --format json -p "golden\$$1" --job "$2" -o "$TMP/stats"
	check "... the recorded ones" profiled stats "$scanner/$1/expected/statistics.json" "$TMP/stats"
	check "... which are sums of the trace" profiled sums "$TMP/$4" "$TMP/stats"
	check "... and the recorded times" profiled interval "$scanner/$1/case.json" "$TMP/stats"
}

{ start aggregator poolscope-aggregator --models "$ROOT/deploy/models" &&
	start broker poolscope-broker; } || exit 1
for case in "$scanner"/s0*; do
	name=$(basename "$case")
	job=$(ls "$case/db/jobs")
	bad=0
	[ "$name" != s07_corrupt_counter_count ] || bad=1
	check_status "$bad" "$name: is imported" poolscope-import scanner -p "golden\$$name" --job "$job" "$case/db"
	wait_until indexed 60 || fail "$name: is indexed"
	[ "$bad" = 0 ] || check_printed "... and says where it is damaged" 'profile_0.bin: offset 250: 1000001 counters'
	case $name in
	s05*) file=out.tar.gz ;;
	s08*) file=run.1.trace ;; # dots are nothing special
	*) file=out.trace ;;
	esac
	traced "$name" "$job" trace.jsonl "$file"
	check "$name: is imported again" sh -c 'poolscope-import scanner "$@" | grep -q "^\([0-9]*\) intervals, .*, \1 already there"' \
		- -p "golden\$$name" --job "$job" "$case/db"
done
check_status 2 "an unknown format is wrong usage" poolscope-trace scanner \
	-p 'golden$s06_error_extension' --job 0 -o "$TMP/other.json5"
check "... and leaves nothing behind" test ! -e "$TMP/other.trace" -a ! -e "$TMP/other.json5"

# ---- the same of a job that is large
million=$scanner/s10_generated_1m
check "a large job is generated" /usr/bin/python3 "$million/gen.py" --scale "$(echo "$SHARE" | awk '{ print 1 / $1 }')" --out "$TMP/large"
check "... and imported" poolscope-import scanner -p 'golden$large' --job 7 "$TMP/large"
wait_until indexed 120 || fail "... and indexed"
check "it is traced" poolscope-trace scanner -p 'golden$large' --job 7 -o "$TMP/large.trace"
if [ "$SHARE" = 1 ]; then
	check "... with the recorded digest" profiled sha "$million/expected/summary.json" "$TMP/large.trace"
else
	check "... with the events of its files" profiled files "$TMP/large" 7 "$TMP/large.trace"
fi
check "it has numbers" poolscope-stats scanner --format json -p 'golden$large' --job generated -o "$TMP/stats"
check "... by its id, too" poolscope-stats scanner --format json -p 'golden$large' --job 7 -o "$TMP/by-id"
check "... the same" cmp "$TMP/stats" "$TMP/by-id"
check "... which are sums of the trace" profiled sums "$TMP/large.trace" "$TMP/stats"
if [ "$SHARE" = 1 ]; then
	check "... and the recorded numbers" profiled stats "$million/expected/statistics.json" "$TMP/stats"
fi
mv "$TMP/large.trace" "$TMP/before"
stop broker
stop aggregator

# Packed by hours, and without a process that answers.
check "all is sealed" poolscope-admin compact --models "$ROOT/deploy/models"
check "it is traced from the store" poolscope-trace scanner -p 'golden$large' --job 7 -o "$TMP/large.trace"
check "... byte for byte" cmp "$TMP/before" "$TMP/large.trace"
traced s02_two_workers 3 trace.jsonl out.trace
rm -rf "$TMP/large" "$TMP/large.trace" "$TMP/before"
