# check - run suites against one built variant and count.
#
#   VARIANT=asan sh tests/check.sh "unit flow"
#
# Unit tests are cmocka programs; everything else is a script whose last line
# is `N passed, N failed`.  Each gets a time limit, and what it printed is
# shown when it fails.  With TALLY=FILE the counts go there.
set -eu
cd "$(dirname "$0")/.."
suites=${1:-lint unit fuzz golden flow fault model}
VARIANT=${VARIANT:-release}
case $VARIANT in
release|valgrind) B=build;;
*) B=build/$VARIANT;;
esac
ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=1}
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp ignore_noninstrumented_modules=1 halt_on_error=1}
# Every instance of the tests is small; valgrind cannot map more.
POOLSCOPE_MAP_BYTES=${POOLSCOPE_MAP_BYTES:-4GiB}
PATH=$PWD/$B/bin:$PATH
export B VARIANT PATH ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS POOLSCOPE_MAP_BYTES
if [ "$VARIANT" = valgrind ]; then
	VALGRIND="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --trace-children=no --suppressions=$PWD/tests/valgrind.supp"
	export VALGRIND
fi

output=$(mktemp)
trap 'rm -f "$output"' EXIT
passed=0 failed=0

# one NAME COMMAND...: run it, count what it counted.
one() {
	name=$1
	shift
	status=0
	began=$(date +%s)
	timeout -k 10 "${LIMIT:-900}" "$@" >"$output" 2>&1 </dev/null || status=$?
	took=$(($(date +%s) - began))
	counts=$(awk '
		/^\[  PASSED  \] [0-9]+ test/ { p += $4; n = 1 }
		/^\[  FAILED  \] [0-9]+ test/ { f += $4; n = 1 }
		/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; n = 1 }
		END { if (n) print p + 0, f + 0 }' "$output")
	p=${counts% *} f=${counts#* }
	if [ -z "$counts" ]; then p=0 f=0; [ "$status" -ne 0 ] || p=1; fi
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$f" -eq 0 ]; then
		echo "ok $VARIANT $name: $p (${took} s)"
	else
		tail -n 60 "$output"
		echo "not ok $VARIANT $name: $p passed, $f failed, status $status (${took} s)"
	fi
}

for suite in $suites; do
	case $suite in
	lint) one lint make -s lint;;
	unit)
		for t in tests/unit/*.c; do
			t=$(basename "$t" .c)
			# shellcheck disable=SC2086 # a command and its options
			one "unit/$t" ${VALGRIND:-} "$B/unit/$t"
		done;;
	fuzz)
		for t in tests/fuzz/*.c; do
			t=$(basename "$t" .c)
			one "fuzz/$t" "$B/fuzz/$t" "tests/fuzz/corpus/$t"
		done;;
	golden) one golden sh tests/golden/run.sh;;
	flow|fault)
		for t in tests/"$suite"/[0-9]*.sh; do
			one "$suite/$(basename "$t" .sh)" sh "$t"
		done;;
	model) one model sh tests/model/run.sh;;
	*) echo "check.sh: no such suite: $suite" >&2; exit 2;;
	esac
done
[ -z "${TALLY:-}" ] || echo "$passed $failed" >>"$TALLY"
echo "$VARIANT: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
