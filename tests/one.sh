# one - run one test; add its counts, and failures reported by instruments.
#
#   VARIANT=asan LIMIT=300 COUNTS=FILE sh tests/one.sh NAME COMMAND...
#
# The test has LIMIT seconds; its output is shown if it fails.  The numbers of
# passed and failed checks are appended to COUNTS.  The last line of a failed test is
# a command that repeats it: a randomised test first prints a line "seed N" and
# takes N from SEED.  The command begins with REPEAT.  With FAILURES=DIRECTORY what a
# failed test printed is kept there: in VARIANT:NAME (with + for each /), or in
# VARIANT:NAME.report if an instrument reported something.
#
# Sanitizers and valgrind write their reports into a directory of this script, not
# to stderr: a report there fails the test, even if the process was killed
# afterwards or its status was ignored.
set -eu
name=$1
shift
output=$(mktemp)
reports=$(mktemp -d)
trap 'rm -rf "$output" "$reports"' EXIT
ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=1}:log_path=$reports/asan
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}:log_path=$reports/ubsan
# With ignore_noninstrumented_modules=1 what memcpy, read and the like do is not seen, on
# Linux in every module.  With 0, unit tests whose threads order each other through sockets
# report a race of their own; flow tests may set it.
TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp ignore_noninstrumented_modules=1 halt_on_error=1} log_path=$reports/tsan"
VALGRIND_OPTS="${VALGRIND_OPTS:---suppressions=$PWD/tests/valgrind.supp} --log-file=$reports/valgrind.%p"
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS VALGRIND_OPTS

# Of scripts that listen on the same port, also in two variants, one at a time runs.
port=
for word; do
	case $word in
	*.sh) port=$(grep -oE '127\.0\.0\.1:2[0-9]{4}' "$word" | sort | head -n 1) ;;
	esac
done
if [ -n "$port" ]; then
	mkdir -p build
	exec 9>"build/port-${port#*:}.lock"
	flock 9
fi

status=0
began=$(date +%s)
timeout -k 10 "$LIMIT" "$@" >"$output" 2>&1 </dev/null 9>&- || status=$?
exec 9>&-
took=$(($(date +%s) - began))
# The seconds of a processor show which tests make a run long; a subshell would have none.
times >"$reports/times"
took="$took s, $(awk 'NR == 2 { split($1 "m" $2, t, /[ms]+/); printf "%d", 60 * t[1] + t[2] + 60 * t[3] + t[4] }' "$reports/times") s of a processor"
rm "$reports/times"
counted=$(awk '
	/^\[  PASSED  \] [0-9]+ test/ { p += $4; n = 1 }
	/^\[  FAILED  \] [0-9]+ test/ { f += $4; n = 1 }
	/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; n = 1 }
	END { if (n) print p + 0, f + 0 }' "$output")
p=${counted% *} f=${counted#* }
if [ -z "$counted" ]; then p=0 f=0; [ "$status" -ne 0 ] || p=1; fi
if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
# Valgrind 3.19 does not support Landlock: it warns, and returns ENOSYS.
find "$reports" -name 'valgrind.*' -size +0 -exec sed -i \
	-e '/^--[0-9]*-- WARNING: unhandled amd64-linux syscall: 44[456]$/,+4d' {} +
# Valgrind creates its files before it has anything to report.
reported=$(find "$reports" -type f -size +0 | wc -l)
f=$((f + reported))
find "$reports" -type f -size +0 -exec head -n 40 {} + >>"$output"
echo "$p $f" >>"$COUNTS"
grep '^SKIPPED' "$output" || :
if [ "$f" -eq 0 ]; then
	echo "ok $VARIANT $name: $p ($took)"
else
	tail -n 60 "$output"
	if [ -n "${FAILURES:-}" ]; then
		kept=$FAILURES/$VARIANT:$(echo "$name" | tr / +)
		[ "$reported" -eq 0 ] || kept=$kept.report
		grep -A 8 -E '^(not ok|FAILED|\[  FAILED  \]|SUMMARY|==)' "$output" | tail -n 40 >"$kept" || :
	fi
	echo "not ok $VARIANT $name: $p passed, $f failed, status $status ($took)"
	# If there are several seeds, use that of the first failure.
	seed=$(awk '
		/^seed [0-9]+/ && !failed { seed = $2 + 0 == $2 ? $2 : substr($2, 1, match($2, /[^0-9]/) - 1) }
		/^(not ok|FAILED|\[  FAILED  \])/ { failed = 1 }
		END { print seed }' "$output")
	[ "$VARIANT" = release ] || REPEAT="${REPEAT:+$REPEAT }VARIANT=$VARIANT"
	echo "repeat: ${seed:+SEED=$seed }${REPEAT:+$REPEAT }make test T=$name"
fi
