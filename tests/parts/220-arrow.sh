#!/bin/sh
# Every question and every kind of record as a stream of Arrow and a file of Parquet, read by
# pyarrow, which validates them, by polars and DuckDB: cell by cell what the other formats say.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"

need_python frames pandas pyarrow polars duckdb || skip "pip cannot have pandas, pyarrow, polars and duckdb"
port=$(free_port)
serve judge "$PARTS/frames/bin/python" "$ROOT/tests/parts/arrow_judge.py" serve "$port"
answers "http://127.0.0.1:$port/" judge || exit 1
judge() {
	curl -sS --noproxy '*' --max-time 120 --fail-with-body --data-binary "$(printf '%s\t' "$@")" "http://127.0.0.1:$port/"
}

model work <<-'END'
	phase step {
		start = "work:start"
		end = "work:end"
	}
END
cp "$ROOT"/deploy/models/*.conf "$TMP/models"
aggregate --models "$TMP/models"
/usr/bin/python3 - <<'END' | records
print("group n1 room temperature:Cel:gauge bytes:By:counter")
print("group n1 wörld größe:By:gauge")
for i in range(1, 8):
    node = "n%d" % i
    print("event %d.123456789 %s work:start" % (i, node))
    if i != 5:
        print("event %d %s work:end" % (10 * i, node), "x=1.5 y=-7 text=Zürich,\"a\" diff=%d.25" % i)
    print("event %d %s 日本:時 a=1 b=%s" % (20 * i, node, "x" * i))
    print("span", i, 100 * i, node, "träck", "späne", "exit=%d" % (i % 3))
    print("span", i, 100 * i, node, "other", "=1+1")
    print("entity", node, "image", "ubuntu-%d" % i, "size=%d" % (i << 40))
    print("gap", 5, 6 + i, node, "samples", "lost", 3 * i)
    for t in range(0, 300, 10):
        print("sample", t, node, "room", ["1.5", "nan", "-", "inf", t][t // 10 % 5], 100 * t)
    print("sample", 5, node, "wörld", 1 << 60)
END

# ---- questions
# asked [-t TABLE] COMMAND...: both say the same, of the first table or of this one.
asked() {
	_table=
	if [ "$1" = -t ]; then
		_table=$2
		shift 2
	fi
	for _format in arrow parquet; do
		if ! "$@" --format jsonl >"$TMP/jsonl" 2>"$TMP/err"; then
			check_status 1 "no answer: $*" "$@" --format $_format
			continue
		fi
		check "$_format: $*" sh -c '"$@" >"$0"' "$TMP/a.$_format" "$@" --format $_format ${_table:+--table "$_table"}
		check "... says the same" judge answer "$TMP/a.$_format" "$TMP/jsonl" ${_table:+"$_table"}
		sed 's/^/    /; /^ *$/d' "$TMP/out"
		check "... to others, too" judge second "$TMP/a.$_format"
	done
	[ -s "$TMP/jsonl" ] || return
	answered="$answered $2"
}
# A verdict is a status, too.
cat >"$TMP/judged" <<'END'
#!/bin/sh
poolscope-stats "$@"
status=$?
[ $status != 3 ] && [ $status != 4 ] || exit 0
exit $status
END
chmod +x "$TMP/judged"
answered=
questions=$(poolscope-stats --help | sed -n '/^print numbers/,/^options/s/^  \([a-z]*\) .*/\1/p')
# of_pool PARTITION [OPTION...]: all questions; the words are those of scanner.
of_pool() {
	_pool=$1
	shift
	for _what in $questions; do
		case $_what in
		metrics | nodes | clocks | pools | status) ;; # OpenMetrics; of now
		scanner) [ $# -eq 0 ] || asked poolscope-stats scanner -p "$_pool" "$@" ;;
		series) asked poolscope-stats series -p "$_pool" --metric 'system.memory*' --from -1h ;;
		whatif) asked poolscope-stats whatif -p "$_pool" --begin '*=0' ;;
		# Of a pool of now it says how many seconds ago it was heard.
		why) [ "$_pool" = 'live$agent' ] || asked poolscope-stats why -p "$_pool" ;;
		compare) asked "$TMP/judged" compare -p "$_pool" ;;
		*) asked poolscope-stats "$_what" -p "$_pool" ;;
		esac
	done
}
golden=$ROOT/tests/golden
start broker poolscope-broker || exit 1
start agent poolscope-agent -p 'live$agent' -n n1 || exit 1
check "a job is imported" poolscope-import scanner -p 'scanner$job' --job "$(ls "$golden/scanner/s01"*/db/jobs)" "$golden/scanner/s01"*/db
check "test runs are" poolscope-import -p 'testrun$runs' testrun "$golden"/testrun/m01*
check "reports are" poolscope-import perf -p 'perf$r' "$golden"/perf/r01*/reports.json
check "a pool is" env -u POOLSCOPE_PARTITION poolscope-import cascade "$golden/cascade/p02_pool8_p2p_private/entities.jsonl"
check "a host is sampled" wait_until "test \$(poolscope-dump -q -p 'live\$agent' --kind sample | wc -l) -gt 20" 30
check "... and its clock compared" wait_until "poolscope-stats clocks -p 'live\$agent'" 30
stop agent
stored() {
	check "$1 is stored" wait_until "poolscope-stats $2 -p '$1'" 30
}
stored 'scanner$job' "scanner --job $(ls "$golden/scanner/s01"*/db/jobs)"
stored 'testrun$runs' runs
stored 'perf$r' perf
stored 'mybatchacct$gpupool' cascade
of_pool 'acct$pool'
of_pool 'live$agent'
of_pool 'scanner$job' --job "$(ls "$golden/scanner/s01"*/db/jobs)"
of_pool 'testrun$runs'
of_pool 'perf$r'
of_pool 'mybatchacct$gpupool'
for what in $questions; do
	case $what in
	metrics) continue ;; # OpenMetrics
	nodes | clocks | pools | status) ;; # of now: the next answer is another
	*) continue ;;
	esac
	for format in arrow parquet; do
		check "$format: stats $what" sh -c 'poolscope-stats "$1" -p "live\$agent" --format "$2" >"$0"' "$TMP/a.$format" \
			"$what" $format
		check "... is read" judge second "$TMP/a.$format"
	done
	answered="$answered $what"
done
for what in $questions; do
	case " $answered metrics " in
	*" $what "*) ;;
	*) fail "$what had an answer" ;;
	esac
done

# one table of several
asked -t images poolscope-stats cascade -p 'mybatchacct$gpupool'
WINDOW="--from 2023-11-14 --to 2023-11-15"
# shellcheck disable=SC2086 # words
asked poolscope-stats phases -p 'acct$pool' $WINDOW --by node --sort max --top 3
# shellcheck disable=SC2086
asked poolscope-stats series -p 'acct$pool' $WINDOW -m temperature --step 30s
asked poolscope-partitions list
asked poolscope-keys list

# ---- records
for kind in event span gap entity phase; do
	poolscope-dump -q -p 'acct$pool' --kind $kind --format jsonl >"$TMP/jsonl"
	check "dump of $kind" test -s "$TMP/jsonl"
	for format in arrow parquet; do
		check "... as $format" poolscope-dump -q -p 'acct$pool' --kind $kind --format $format -o "$TMP/a.$format"
		check "... the same" judge records "$TMP/a.$format" "$TMP/jsonl"
		sed 's/^/    /' "$TMP/out"
		check "... by others" judge second "$TMP/a.$format"
	done
done
long() {
	poolscope-dump -q -p "$1" --format long -o "$TMP/csv"
	for format in arrow parquet; do
		check "samples as $format" poolscope-dump -q -p "$1" --kind sample --format $format -o "$TMP/a.$format"
		check "... as csv says" judge samples "$TMP/a.$format" "$TMP/csv"
		sed 's/^/    /' "$TMP/out"
		check "... by others" judge second "$TMP/a.$format"
	done
}
long 'acct$pool'
for format in arrow parquet; do
	check "no record" poolscope-dump -q -p 'acct$pool' --kind event --name no:no --format $format -o "$TMP/a.$format"
	check "... is $format without rows" judge second "$TMP/a.$format"
done

# ---- refused
on_terminal() {
	/usr/bin/python3 -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null
}
for format in arrow parquet; do
	check_status 2 "$format has one schema" poolscope-dump -p 'acct$pool' --format $format
	check_printed "... says so" "$format prints records of one kind: choose it with --kind"
	check_status 1 "not on a terminal" on_terminal poolscope-stats phases -p 'acct$pool' --format $format
	check_printed "... says so" "$format is not for a terminal"
	check_text "... and prints no row" 0 "$(grep -c 'work:step\|PAR1' "$TMP/out")"
done

# ---- many: batches, and dictionaries that grow between them
PARTITION='acct$many' records <<END
$(/usr/bin/python3 -c 'print("group n1 room", *["m%d:1:gauge" % i for i in range(50)])
for t in range(6000):
    print("sample", t, "n%d" % (t // 1000), "room", *[t * i for i in range(50)])')
END
long 'acct$many'
# peak FORMAT [OPTION...]: the most memory, in KiB.
peak() {
	/usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		poolscope-dump -q -p 'acct$many' --kind sample --format "$@"
}
# bounded FORMAT ROWS: of the 300,000 rows no more than these are in memory at once.
bounded() {
	check "batches of $1 are small" judge batches "$TMP/a.$1" "$2"
	sed 's/^/    /' "$TMP/out"
	few=$(peak "$1" --to "$(at 3000)")
	all=$(peak "$1")
	echo "    $few KiB for 150,000 rows, $all for 300,000"
	check "memory is bounded by a batch" test "$all" -lt $((few + 4096))
}
bounded arrow 65536
bounded parquet 131072
