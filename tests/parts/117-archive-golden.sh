#!/bin/sh
# All recorded pools, jobs, farms and result files in one archive, in a store that is
# made of it, and behind a gateway: every answer and every file of every command, and
# every answer of the page's server, is that of the first store, byte by byte.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
golden=$ROOT/tests/golden
{ archive_cluster && archive_start; } || exit 1

# ---- one partition for each case ----
# add FAMILY PARTITION [JOB]: to the list of what is asked for.
add() {
	echo "$@" >>"$TMP/partitions"
}
for case in "$golden"/perf/r0*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import perf -p "perf\$$name" "$case/reports.json"
	add perf "perf\$$name"
done
for case in "$golden"/scanner/s0*; do
	name=$(basename "$case")
	job=$(ls "$case/db/jobs")
	bad=0
	[ "$name" != s07_corrupt_counter_count ] || bad=1
	check_status "$bad" "$name is imported" poolscope-import scanner -p "scanner\$$name" --job "$job" "$case/db"
	add scanner "scanner\$$name" "$job"
done
for case in "$golden"/testrun/m0[1-4]*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import -p "testrun\$$name" testrun "$case"
	add testrun "testrun\$$name"
done
for case in "$golden"/cascade/p0* "$golden"/cascade/p1[0-2]*; do
	name=$(basename "$case")
	check "$name is imported" poolscope-import cascade "$case/entities.jsonl"
	add cascade "$(sed -n 's/.*"partition_key": *"\([^"]*\)".*/\1/p' "$case/case.json")"
	[ -e "$case/emits.jsonl" ] || continue
	check "... and its calls" poolscope-import emits "$case/emits.jsonl" -p "emits\$$name"
	add cascade "emits\$$name"
done
# bench CASE STATUS...: result files, and the exit status of each pass.
bench() {
	name=$1
	shift
	check "$name is uploaded" /usr/bin/python3 "$golden/testbench/testbench.py" run \
		"$golden/testbench/$name" "$TMP/bench-$name" "$@" -- poolscope-upload results \
		--target store -p "bench\$$name"
	add results "bench\$$name"
}
bench b01_three_files 0
bench b02_bad_files 1
bench b04_locked 0 0
# What hosts use of processors and memory.
start agent poolscope-agent -p 'live$agent' -n n1 || exit 1
add samples 'live$agent'
sort -u "$TMP/partitions" -o "$TMP/partitions"
check "a host is sampled" wait_until \
	"poolscope-dump -q -p 'live\$agent' --kind sample >'$TMP/sampled' && test -s '$TMP/sampled'" 30
stop agent
check "all is in the archive" settled
stop broker
stop aggregator

# ---- what is asked ----
# answer NAME COMMAND...: output, status and errors, in $to-NAME.
answer() {
	_answer=$to-$1
	shift
	# shellcheck disable=SC2086 # several words
	"$@" -q $from -p "$partition" >"$_answer" 2>"$_answer.err"
	echo $? >>"$_answer"
	printf '%s\n' "$_answer" "$_answer.err" >>"$where.answers"
}

# questions NUMBER: each, in one of the formats, of the next partition in another one;
# those with ages in JSON, where an age has a line of its own.
questions() {
	_number=$1
	for _what in breakdown cascade deltas groups iterations perf phases reports runs samples \
		scanner series skew slow spans starts timeline usage; do
		set -- table json jsonl csv md
		shift $((_number % 5))
		_number=$((_number + 1))
		answer "$_what-$1" poolscope-stats "$_what" --format "$1"
	done
	for _what in nodes clocks; do
		answer "$_what" poolscope-stats "$_what" --format json
	done
	answer phases-by-key poolscope-stats phases --format json --by key --start all
	answer phases-by-node poolscope-stats phases --format csv --by node
	answer slow-phases poolscope-stats slow --format json --by phase --start all
	answer lanes poolscope-stats timeline --format json --lanes --start all
	answer pixels poolscope-stats timeline --format json --pixels 97 --rows 7
	answer every-metric poolscope-stats series --format json --metric '*' --step 1m
	answer results poolscope-results tests --format csv
}

of_family() {
	case $1 in
	perf)
		answer perf-saved poolscope-stats perf --format json --save "$to-saved"
		answer mlflow poolscope-stats perf --format json --mlflow-names
		;;
	scanner)
		answer scanner-job poolscope-stats scanner --format json --job "$2"
		answer scanner-trace poolscope-trace scanner --job "$2" -o "$to-scanner.trace"
		;;
	testrun)
		answer testrun-plot poolscope-plot testrun --no-png --view all -o "$to-plot"
		;;
	cascade)
		answer cascade-plot poolscope-plot cascade --no-png --view all -o "$to-plot"
		answer cascade-strict poolscope-plot cascade --no-png --view reference --strict -o "$to-strict"
		;;
	results)
		answer entities poolscope-results entities --format jsonl
		;;
	esac
}

# asked TO SOURCE OPTION...: every command, of every partition; SOURCE is that of the options.
asked() {
	where=$1 source=$2
	shift 2
	from=$*
	mkdir -p "$where"
	_index=0
	while read -r family partition job; do
		to=$where/$(echo "$partition" | tr '$' '-')
		answer all poolscope-dump --format jsonl --kind event --kind sample --kind span \
			--kind entity --kind gap --kind rejected --kind phase --kind run
		answer csv poolscope-dump --format csv --kind sample
		answer trace poolscope-trace -o "$to.trace"
		of_family "$family" "$job"
		questions $_index
		_index=$((_index + 1))
	done <"$TMP/partitions"
	# Ages are those of now.
	xargs -d '\n' sed -i "s|$source|SOURCE|g; s|$where|WHERE|g; /\"\(received_\)*age\"/d; /\"silence\"/d" <"$where.answers"
}

asked "$TMP/first" "$DIR/store" --store "$DIR/store"
answers=$(find "$TMP/first" -type f ! -name '*.err' | wc -l)
check "there are more than 1,000 answers" test "$answers" -gt 1000
# Commands that fail print the same of both: not all of them may.
check "most commands answered" test "$(grep -lx 0 "$TMP"/first/*-all "$TMP"/first/*-nodes | wc -l)" \
	-ge "$(wc -l <"$TMP/partitions")"

asked "$TMP/archive" "clickhouse://${CLUSTER#*@}/pool" --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
check "every answer of the archive is the same" diff -r "$TMP/first" "$TMP/archive"

check "a store is made of the archive" poolscope-archive restore --from "$CLUSTER/pool" \
	--archive-password "$TMP/writer" "$TMP/restored"
check "every row is right" poolscope-admin verify --store "$TMP/restored"
check "the archive has what the first store has" poolscope-archive verify --to "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --store "$DIR/store"
asked "$TMP/second" "$TMP/restored" --store "$TMP/restored"
check "every answer of that store is the same" diff -r "$TMP/first" "$TMP/second"

# ---- the server of the page ----
host=$TMP/host
mkdir -m 700 "$host"
listen=tcp://127.0.0.1:$(free_port 1)
check "a key for the gateway" poolscope-keys new server --dir "$host" --role server
check "... and for who reads it" poolscope-keys new all --dir "$host" --role reader
start gateway poolscope-aggregator --dir "$host" --archive-only "$CLUSTER/pool" \
	--archive-password "$TMP/writer" --reader "$listen" || exit 1
# page NAME OPTION...: a server; its address is in the file NAME.address.
page() {
	_page=$1
	shift
	start "$_page" poolscope-web --listen 127.0.0.1:0 "$@" || exit 1
	wait_until "grep -qo 'http://[^ ]*#k=[^ ]*' '$TMP/$_page.log'" || exit 1
	grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/$_page.log" | head -n 1 >"$TMP/$_page.address"
}
page of_store --store "$DIR/store"
page of_archive --connect "$CLUSTER/pool" --archive-password "$TMP/writer"
page of_gateway --connect "$listen" --key "$host/keys/all.key"
# same NAME SOURCE: the server of this name answers as that of the store.
same() {
	check "every route of the $1 is the same" /usr/bin/python3 "$ROOT/tests/parts/routes.py" "$TMP/partitions" \
		"$(cat "$TMP/of_store.address")" "$DIR/store" "$(cat "$TMP/of_$1.address")" "$2"
	check_printed "... of more than 1,000" "^[1-9][0-9][0-9][0-9] requests"
	cat "$TMP/out"
}
same archive "clickhouse://${CLUSTER#*@}/pool"
same gateway "$listen"
echo "$(wc -l <"$TMP/partitions") partitions, $answers answers and files"
