# check - run suites against one built variant and count.
#
#   VARIANT=asan sh tests/check.sh "unit unit/proto/net unit/sender flow/030"
#
# Unit tests are cmocka programs; every other test is a script whose last line is
# `N passed, N failed`.  SUITE/NAME selects the tests whose names begin with NAME;
# in unit, which has the folders of the sources, NAME begins the path or the name
# of the file.  tests/one.sh runs each test; those of unit, fuzz and scenario JOBS
# at a time (default: the number of processors).  With TALLY=FILE the counts are
# appended to FILE and not printed.
#
# For valgrind, build/valgrind has a script in place of every program in build/,
# which runs it under valgrind; tests need no change (tests/wrap.sh; with WRAPPED
# the scripts exist already).
#
# Instrumented programs are slow.  Only this file sets the time limits of the tests
# and the amount of random or generated input:
#
#   SLOW          factor for all time limits (on an idle machine: 1)
#   EMITS         processes of flow/032, each with one event
#   ROUNDS        of kill -9 in fault/100, an n-th of it in fault/146; damaged stores of
#                 fault/195
#   PROGRAMS      killed at every system call in fault/105 (all: every one)
#   STATES        after a crash, of a spool in fault/010, of a store in 030, of a
#                 fallback queue in 060
#   SEALS         the same, of tables whose hours are being compacted in 040
#   WORLDS        simulated in fault/020
#   HUPS          of flow/110
#   POOLS         of fault/210 (default: 800 divided by SHARE)
#   GOLDEN_NODES  the generated pools of golden
#   GOLDEN_RUNS   the generated farms of golden
#   SHARE         divides by this the rounds of the longest unit tests, of
#                 fault/141 and of golden's made up images, the intervals of
#                 golden's generated job, the nodes of flow/184, the files of
#                 fault/150, the power cuts of fault/115, the schedules of
#                 fault/170, the agents, records and seconds of fault/180,
#                 and the 10,000 generated inputs of each fuzz target
#   KILLS         of kill -9 in parts/100
#   CLAIMS        rounds of parts/194 and 195
#   FAULTS        some or all, of parts/105
#   COUNT         records of parts/115
#   LOADS         at most, of parts/118, each 2,000 test runs
#   HOURS         of samples in parts/119
#   HOSTILE       connections of attack/020; FILES: of attack/060; ZMTP: of attack/240
#
# Values from the environment take precedence.  The last line of a failed test is a
# command that repeats it with these values and its seed.
set -eu
cd "$(dirname "$0")/.."
. tests/suites.sh
suites=${1:-lint unit fuzz golden scenario flow fault attack model}
VARIANT=${VARIANT:-release}

repeat=
for each in SLOW EMITS ROUNDS STATES SEALS WORLDS GOLDEN_NODES GOLDEN_RUNS SHARE \
	HOSTILE ZMTP FILES KILLS CLAIMS FAULTS COUNT LOADS HOURS PROGRAMS TIMES CUTS SECONDS EVERY POOLS HUPS; do
	value=
	eval "value=\${$each-}"
	case $value in
	"") ;;
	*[!0-9a-zA-Z]*) repeat="$repeat $each='$value'" ;;
	*) repeat="$repeat $each=$value" ;;
	esac
done
export REPEAT="${repeat# }"

scale() {
	SLOW=${SLOW:-$1} EMITS=${EMITS:-$2} ROUNDS=${ROUNDS:-$3}
	STATES=${STATES:-$4} SEALS=${SEALS:-$5} WORLDS=${WORLDS:-$6}
	GOLDEN_NODES=${GOLDEN_NODES:-$7} GOLDEN_RUNS=${GOLDEN_RUNS:-$8}
	SHARE=${SHARE:-$9}
	export SLOW EMITS ROUNDS STATES SEALS WORLDS GOLDEN_NODES GOLDEN_RUNS SHARE
}
case $VARIANT in
#              SLOW EMITS ROUNDS STATES SEALS WORLDS GOLDEN_NODES GOLDEN_RUNS SHARE
asan)     scale   6   150    100    500   100   1000 "1000"       1000          4 ;;
tsan)     scale   6    60     20    300    50   1000 "1000"       1000         10 ;;
valgrind) scale  20    30     10    200    20    500 " "          1000         40 ;;
*)        scale   4   150    300   3000   500   8000 "1000 10000" "1000 100000" 1 ;;
esac
# Seconds of one test.  It ends a test that waits for ever, and is no measure: on an idle
# machine none takes a quarter of it, and a busy one makes it no failure.
limit=${LIMIT:-1800}
B=build
[ "$VARIANT" = release ] || B=build/$VARIANT
[ "$VARIANT" != valgrind ] || [ -n "${WRAPPED:-}" ] || sh tests/wrap.sh
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
# Instances of the tests are small; valgrind cannot map more memory.
POOLSCOPE_MAP_BYTES=${POOLSCOPE_MAP_BYTES:-4GiB}
PATH=$PWD/$B/bin:$PATH
export B VARIANT PATH POOLSCOPE_MAP_BYTES
export LIMIT="$limit" COUNTS="$counts"

for each in $suites; do
	suite=${each%%/*}
	begin=${each#"$suite"}
	begin=${begin#/}
	case $suite in
	lint) sh tests/one.sh lint make -s lint;;
	unit|fuzz)
		found "$suite" "$begin" | while read -r t; do
			corpus=
			[ "$suite" != fuzz ] || corpus="--runs $((10000 / SHARE)) tests/fuzz/corpus/$t"
			echo "$suite/$t $B/$suite/$t${corpus:+ $corpus}"
		done | xargs -L 1 -P "${JOBS:-$(nproc)}" sh tests/one.sh;;
	scenario)
		scripts "$suite/$begin" | sed 's|.*|& sh tests/&.sh|' | xargs -L 1 -P "${JOBS:-$(nproc)}" sh tests/one.sh;;
	golden)
		for part in $golden; do
			case $part in "$begin"*)
				GOLDEN=$part sh tests/one.sh "golden/$part" sh tests/golden/run.sh ;;
			esac
		done;;
	flow|fault|attack|parts|web)
		for t in $(scripts "$suite/$begin"); do
			sh tests/one.sh "$t" sh "tests/$t.sh"
		done;;
	model) sh tests/one.sh model sh tests/model/run.sh;;
	*) echo "check.sh: no such suite: $suite" >&2; exit 2;;
	esac
done
awk -v variant="$VARIANT" -v tally="${TALLY:-}" '
	{ passed += $1; failed += $2 }
	END {
		if (tally != "")
			print passed + 0, failed + 0 >>tally
		else
			printf "%s: %d passed, %d failed\n", variant, passed, failed
		exit failed > 0
	}' "$counts"
