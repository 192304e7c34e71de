# check - run suites against one built variant and count.
#
#   VARIANT=asan sh tests/check.sh "unit flow/030 fault"
#
# Unit tests are cmocka programs; everything else is a script whose last line
# is `N passed, N failed`.  SUITE/NAME is what begins with that name.  Each
# gets a time limit, and what it printed is shown when it fails.  With
# TALLY=FILE the counts go there.
#
# Sanitizers and valgrind write what they find into a directory of this
# script, not to stderr: one report there and the test that ran has failed,
# also when its process was killed afterwards or nobody looked at its status.
# For valgrind, build/valgrind has a script in place of every program in build/
# that runs it under valgrind, so that no test needs to know.
#
# Instruments are slow: how long the tests are patient, and how much of what is
# random or generated they go through, is decided here and nowhere else:
#
#   SLOW          how many times longer to be patient (on a quiet machine: 1)
#   EMITS         processes for as many events in flow/032
#   ROUNDS        of kill -9 in fault/100
#   STATES        after a crash, of a spool in fault/010, of a store in 030
#   SEALS         the same, of tables whose hours are being sealed in 040
#   WORLDS        simulated in fault/020
#   GOLDEN_NODES  the generated pools of golden
#   SHARE         of the longest unit tests: one in so many of their rounds; of
#                 golden's generated job: one in so many of its intervals
#
# Any of them from the environment goes before.
set -eu
cd "$(dirname "$0")/.."
suites=${1:-lint unit fuzz golden flow fault model}
VARIANT=${VARIANT:-release}

scale() {
	SLOW=${SLOW:-$1} EMITS=${EMITS:-$2} ROUNDS=${ROUNDS:-$3}
	STATES=${STATES:-$4} SEALS=${SEALS:-$5} WORLDS=${WORLDS:-$6}
	GOLDEN_NODES=${GOLDEN_NODES:-$7} SHARE=${SHARE:-$8}
	export SLOW EMITS ROUNDS STATES SEALS WORLDS GOLDEN_NODES SHARE
}
case $VARIANT in
#              SLOW EMITS ROUNDS STATES SEALS WORLDS GOLDEN_NODES SHARE
asan)     scale   4   150    100   1500   300  10000 "1000 10000"   4 ;;
tsan)     scale   4    60     20     30    20    500 "1000"        10 ;;
valgrind) scale  20    30     10    200    20    500 "1000"        20 ;;
*)        scale   2   150    200   5000   500  20000 "1000 10000"   1 ;;
esac
limit=${LIMIT:-300} # seconds, of one test
[ "$VARIANT" = release ] || limit=${LIMIT:-600}
B=build
[ "$VARIANT" = release ] || B=build/$VARIANT
output=$(mktemp)
reports=$(mktemp -d)
trap 'rm -rf "$output" "$reports"' EXIT
ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=1}:log_path=$reports/asan
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}:log_path=$reports/ubsan
TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp ignore_noninstrumented_modules=1 halt_on_error=1} log_path=$reports/tsan"
VALGRIND_OPTS="${VALGRIND_OPTS:---suppressions=$PWD/tests/valgrind.supp} --log-file=$reports/valgrind.%p"
# Every instance of the tests is small; valgrind cannot map more.
POOLSCOPE_MAP_BYTES=${POOLSCOPE_MAP_BYTES:-4GiB}
PATH=$PWD/$B/bin:$PATH
export B VARIANT PATH POOLSCOPE_MAP_BYTES
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS VALGRIND_OPTS

# Programs under valgrind, as if they were another build.
wrap() {
	rm -rf "$B"
	mkdir -p "$B/bin" "$B/unit" "$B/fuzz" "$B/fault" "$B/flow"
	for program in build/bin/poolscope-* build/unit/* build/fuzz/* build/fault/* build/flow/*; do
		[ -f "$program" ] || continue
		cat >"$B/${program#build/}" <<-END
			#!/bin/sh
			exec valgrind -q --vgdb=no --fair-sched=yes --error-exitcode=99 \\
				--leak-check=full --show-leak-kinds=definite \\
				--errors-for-leak-kinds=definite \\
				"$PWD/$program" "\$@"
		END
		chmod +x "$B/${program#build/}"
	done
	cp build/bin/poolscope "$B/bin/"
}
[ "$VARIANT" != valgrind ] || wrap

passed=0 failed=0

# one NAME COMMAND...: run it, count what it counted, and what was reported.
one() {
	name=$1
	shift
	status=0
	began=$(date +%s)
	timeout -k 10 "$limit" "$@" >"$output" 2>&1 </dev/null || status=$?
	took=$(($(date +%s) - began))
	counts=$(awk '
		/^\[  PASSED  \] [0-9]+ test/ { p += $4; n = 1 }
		/^\[  FAILED  \] [0-9]+ test/ { f += $4; n = 1 }
		/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; n = 1 }
		END { if (n) print p + 0, f + 0 }' "$output")
	p=${counts% *} f=${counts#* }
	if [ -z "$counts" ]; then p=0 f=0; [ "$status" -ne 0 ] || p=1; fi
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	# Valgrind makes its files before it has anything to say.
	f=$((f + $(find "$reports" -type f -size +0 | wc -l)))
	find "$reports" -type f -size +0 -exec head -n 40 {} + >>"$output"
	rm -f "$reports"/*
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$f" -eq 0 ]; then
		echo "ok $VARIANT $name: $p (${took} s)"
	else
		tail -n 60 "$output"
		echo "not ok $VARIANT $name: $p passed, $f failed, status $status (${took} s)"
	fi
}

for each in $suites; do
	suite=${each%%/*}
	begin=${each#"$suite"}
	begin=${begin#/}
	case $suite in
	lint) one lint make -s lint;;
	unit|fuzz)
		for t in tests/"$suite/$begin"*.c; do
			t=$suite/$(basename "$t" .c)
			corpus=
			[ "$suite" != fuzz ] || corpus=tests/fuzz/corpus/${t#*/}
			one "$t" "$B/$t" ${corpus:+"$corpus"}
		done;;
	golden)
		for part in perf scanner cascade; do
			case $part in "$begin"*)
				GOLDEN=$part one "golden/$part" sh tests/golden/run.sh ;;
			esac
		done;;
	flow|fault)
		for t in tests/"$suite/$begin"*.sh; do
			case $t in
			*/[0-9]*) one "$suite/$(basename "$t" .sh)" sh "$t" ;;
			esac
		done;;
	model) one model sh tests/model/run.sh;;
	*) echo "check.sh: no such suite: $suite" >&2; exit 2;;
	esac
done
[ -z "${TALLY:-}" ] || echo "$passed $failed" >>"$TALLY"
echo "$VARIANT: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
