# soak - the long forms of the randomised tests, one after another.
#
#   make soak                         all of them: half a day
#   make soak ONLY="kill power"       these
#   make soak DIVIDE=100              a hundredth of each
#
# Each line of the table below: name, test, variable, amount.  The output of a test
# is in build/soak/NAME.log; a table at the end lists the result of each with its
# seed and counts.  SEED=N is passed to the tests.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
. deploy/packages.sh
need_packages test

plan() {
	cat <<-END
		kill      fault/100-kill           ROUNDS    10000
		calls     fault/105-calls          PROGRAMS  all
		programs  fault/055-programs       PROGRAMS  all
		full      fault/110-full           TIMES     100
		power     fault/115-power          CUTS      5000
		stop      fault/120-stop           TIMES     100
		spool     fault/010-spool-states   STATES    700000
		store     fault/030-store-states   STATES    700000
		drop      fault/060-fallback-states    STATES    600000
		seal      fault/040-compact-states    SEALS     50000
		damage    fault/195-damage         ROUNDS    50000
		answers   fault/210-answers        POOLS     100000
		pictures  scenario/482-random-pictures POOLS 1000
		simulate  fault/020-simulate       WORLDS    5000000
		archive   parts/100-archive-kill   KILLS     200
		head      parts/125-head-lost      HEADS     20
		claims    parts/194-archive-claims CLAIMS    200
		late      parts/195-archive-late   CLAIMS    200
		cut       parts/128-network        FAULTS    all
		faults    parts/105-archive-faults FAULTS    all
		mutants   mutants/run              LISTS     all
		torch     parts/226-python-training TORCH    1
		go        parts/247-otlp-go        GO        1
		network   fault/142-network        SECONDS   7200
		causes    flow/627-causes-judged   POOLS     1100
		soak      fault/180-soak           SECONDS   3600
		hostile   attack/020-hostile       HOSTILE   2000000
		zmtp      attack/240-zmtp          ZMTP      250000
		fuzz      fuzz/long                RUNS      100000000
	END
}

VARIANT=${VARIANT:-release}
B=build
[ "$VARIANT" = release ] || B=build/$VARIANT
SLOW=${SLOW:-2}
SHARE=1
PATH=$PWD/$B/bin:$PATH
POOLSCOPE_MAP_BYTES=${POOLSCOPE_MAP_BYTES:-4GiB}
export B VARIANT SLOW SHARE PATH POOLSCOPE_MAP_BYTES
logs=$B/soak
mkdir -p "$logs"
table=$logs/table
: >"$table"

# judge NAME STATUS SECONDS: a line of the table.
judge() {
	_log=$logs/$1.log
	_counted=$(sed -n 's/^\([0-9]* passed, [0-9]* failed\).*/\1/p' "$_log" | tail -n 1)
	_pattern=$(grep -v -e '^ok' -e '^not ok' -e '^seed' -e 'passed,' -e '^ *$' "$_log" | tail -n 1)
	_seed=$(sed -n 's/^seed \([0-9]*\).*/\1/p' "$_log" | head -n 1)
	_word=ok
	[ "$2" -eq 0 ] || _word="not ok"
	grep -q '^SKIPPED' "$_log" && _word=skipped
	printf '%-8s  %-9s  %6d s  %-24s  seed %-10s  %s\n' "$_word" "$1" "$3" \
		"${_counted:-status $2}" "${_seed:--}" "$_pattern" >>"$table"
	tail -n 1 "$table"
}

failed=0
while read -r name test variable much; do
	case " ${ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
	case $much in
	*[!0-9]*) ;;
	*)
		much=$((much / ${DIVIDE:-1}))
		[ "$much" -gt 0 ] || much=1
		;;
	esac
	echo "== $name: $variable=$much sh tests/$test.sh"
	began=$(date +%s)
	status=0
	env "$variable=$much" sh "tests/$test.sh" >"$logs/$name.log" 2>&1 </dev/null || status=$?
	[ "$status" -eq 0 ] || failed=$((failed + 1))
	judge "$name" "$status" "$(($(date +%s) - began))"
done <<END
$(plan)
END

echo
cat "$table"
echo "$(wc -l <"$table") long tests, $failed failed"
[ "$failed" -eq 0 ]
