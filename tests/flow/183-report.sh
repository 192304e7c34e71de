# poolscope-report: the answers in the file are what the commands print; the findings for a ticket;
# a file is there completely or not at all.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
pool=prodacct\$render-60

# inside KEY COMMAND...: the report has, under the key, the bytes that the command prints.
inside() {
	key=$1
	shift
	python3 "$ROOT/tests/flow/report_judge.py" answer "$TMP/r.html" "$key" >"$TMP/got"
	"$@" --format json >"$TMP/wanted" 2>"$TMP/err"
	check "$key is what $* prints" cmp "$TMP/wanted" "$TMP/got"
}

# ---- wrong usage ----
check_status 2 "a report without a file" poolscope-report -p "$pool"
check_printed "says what is missing" "output"
check_status 2 "another format" poolscope-report -p "$pool" -o "$TMP/r.html" --format pdf
check_status 2 "a time that ends before it begins" poolscope-report -p "$pool" -o "$TMP/r.html" --from 20 --to 10
check_printed "says which" "not before that of --to"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a pool" poolscope-import cascade "$ROOT/deploy/demo/render-60.jsonl" --quiet
check "a farm" poolscope-generate testrun --runs 30 --base now -p 'acct$farm'
awk 'BEGIN { for (n = 1; n <= 3; n++) {
	print "group s" n " cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
	for (t = 0; t < 600; t += 10)
		print "sample " t " s" n " cpu 7 " t * n
	} }' | /usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" 'acct$samples'
wait_until indexed

# ---- the page ----
check_status 1 "a pool that is none" poolscope-report -p 'prodacct$render-6' -o "$TMP/r.html"
check_printed "says which is near" "render-60"
check "nothing is written then" test -z "$(ls "$TMP"/r.html* 2>/dev/null)"
check "a report" poolscope-report -p "$pool" -o "$TMP/r.html" --quiet
check "of at most 220 KB" test "$(wc -c <"$TMP/r.html")" -le 220000
inside "pools/$pool/phases" poolscope-stats phases -p "$pool"
inside "pools/$pool/phases?by=node" poolscope-stats phases -p "$pool" --by node
inside "pools/$pool/timeline?order=name" poolscope-stats timeline -p "$pool" --rows 320 --pixels 1400 --order name --shape columns \
	--columns row,pixel,pixels,phase,share,offset,duration,key,open
inside "pools/$pool/breakdown" poolscope-stats breakdown -p "$pool" --shape columns
check "a report goes to standard output" sh -c 'poolscope-report -p "$0" -o - --quiet >"$1"' "$pool" "$TMP/r2.html"
check "and is the same but for what ages" sh -c 'grep -v "id=\"data\"" "$0" >"$0.1" && grep -v "id=\"data\"" "$1" | cmp - "$0.1"' \
	"$TMP/r.html" "$TMP/r2.html"
check "its policy names nothing but hashes" grep -q "content=\"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]*='; \
style-src 'sha256-[A-Za-z0-9+/]*='; img-src data:;" "$TMP/r.html"
check_text "it has one script and one style" "1 1" \
	"$(grep -c '<script type="module"' "$TMP/r.html") $(grep -c '<style>' "$TMP/r.html")"

# 2017-10-16 00:06:42.2 is when node 55 ends its preparation: before, nobody has.
check "a report of a part" poolscope-report -p "$pool" -o "$TMP/r.html" --to 2017-10-16T00:06:30Z --quiet
inside "pools/$pool/phases" poolscope-stats phases -p "$pool" --to 2017-10-16T00:06:30Z

check "a report of runs" poolscope-report -p 'acct$farm' -o "$TMP/r.html" --quiet
inside 'pools/acct$farm/groups' poolscope-stats groups -p 'acct$farm'
inside 'pools/acct$farm/runs' poolscope-stats runs --newest 200 -p 'acct$farm'

check "a report of samples" poolscope-report -p 'acct$samples' -o "$TMP/r.html" --quiet
inside 'pools/acct$samples/samples' poolscope-stats samples -p 'acct$samples'
inside 'pools/acct$samples/samples?by=node' poolscope-stats samples -p 'acct$samples' --by node -m system.cpu.time.user
inside 'pools/acct$samples/series?metric=system.cpu.time.user&metric-group=cpu' \
	poolscope-stats series -p 'acct$samples' -m system.cpu.time.user --metric-group cpu --shape columns --columns mean,min,p10,p50,p90,max,nodes,few
inside 'pools/acct$samples/usage' poolscope-stats usage -p 'acct$samples'

check_status 2 "a trace as text" poolscope-report -p "$pool" -o "$TMP/r.txt" --format text --with-trace
check_printed "is for the page" "with-trace is for --format html"
mkdir "$TMP/t"
check "a report with a trace" env TMPDIR="$TMP/t" poolscope-report -p "$pool" -o "$TMP/r.html" --with-trace --nodes worst:1 --quiet
check "which is what poolscope trace writes" sh -c 'poolscope-trace -p "$2" --nodes worst:1 --max-size 32MiB -q -o "$1.pftrace" &&
	python3 "$0" trace "$1" | gzip -dc | cmp - "$1.pftrace"' "$ROOT/tests/flow/report_judge.py" "$TMP/r.html" "$pool"
check_text "and leaves nothing behind" "" "$(ls "$TMP/t")"
check "a report with a trace of some nodes" poolscope-report -p "$pool" -o "$TMP/r.html" --with-trace --nodes worst:1
check_printed "says of how many" "the trace has the 1 worst of 60 nodes"

# ---- without names ----
{
	sed 's/.*"NodeId":"\([^"]*\)".*/\1/' "$ROOT/deploy/demo/render-60.jsonl"
	poolscope-dump -p "$pool" --kind phase --format jsonl | sed -n 's/.*"key": "\([^"]\{3,\}\)".*/\1/p'
	printf '%s\n' 'render-60' 'prodacct' "$DIR"
} | sort -u >"$TMP/names"
check "60 nodes are looked for" sh -c 'test "$(grep -c ^tvm- "$0")" = 60' "$TMP/names"
check "a report with a trace has them" poolscope-report -p "$pool" -o "$TMP/r.html" --with-trace --quiet
sed -n '/id="trace"/p' "$TMP/r.html" >"$TMP/trace.html"
check_status 1 "in the trace, too" python3 "$ROOT/tests/flow/report_judge.py" none "$TMP/trace.html" "$TMP/names"
check "a report without names" poolscope-report -p "$pool" -o "$TMP/r.html" --with-trace --anonymise --quiet
check "has none of them" python3 "$ROOT/tests/flow/report_judge.py" none "$TMP/r.html" "$TMP/names"
# A number is the same in each answer, and nothing but names differs.
check "and all the rest" sh -c 'python3 "$0" answer "$1" "pools/account-1\$pool-1/phases" | grep -v "^ .partition.: " >"$3.got"
	poolscope-stats phases -p "$2" --format json | grep -v "^ .partition.: " | cmp - "$3.got"' \
	"$ROOT/tests/flow/report_judge.py" "$TMP/r.html" "$pool" "$TMP/rest"
check "findings without names" sh -c 'poolscope-report -p "$0" -o "$1" --format md --anonymise --quiet &&
	! grep -q "tvm-\|render-60\|prodacct" "$1" && grep -q node-1 "$1"' "$pool" "$TMP/anonymous.md"
check "a farm without names" poolscope-report -p 'acct$farm' -o "$TMP/r.html" --with-trace --anonymise --quiet
printf '%s\n' device_group_1 example.com 'acct\$' '\$farm' worker1 >"$TMP/names"
check "has none of them either" python3 "$ROOT/tests/flow/report_judge.py" none "$TMP/r.html" "$TMP/names"

# ---- for a ticket ----
# Preparation of the recorded pool: 60 nodes, 29.47 to 68.47 s, as its history says.
check "findings as text" poolscope-report -p "$pool" -o "$TMP/r.txt" --format text --quiet
check "begin with the pool" sh -c 'sed -n 1p "$0" | grep -qx "prodacct.render-60"' "$TMP/r.txt"
check "have its phases" grep -q '^cascade:nodeprep  *60  *29.47  *68.47  .*  47.82  *62.02  *68.47 ' "$TMP/r.txt"
check "and say nothing of what it has not" sh -c '! grep -qi "results of benchmarks\|runs\|metrics\|{" "$0"' "$TMP/r.txt"
check "findings as Markdown" poolscope-report -p "$pool" -o "$TMP/r.md" --format md --quiet
check_text "with the same numbers" "$(grep '^cascade:' "$TMP/r.txt" | xargs -n 1)" \
	"$(sed -n 's/^| cascade:/cascade:/p' "$TMP/r.md" | tr -d '\\|' | xargs -n 1)"
check_text "with the same headings" "$(grep -B 1 '^---*$' "$TMP/r.txt" | grep -v '^-')" "$(sed -n 's/^## //p' "$TMP/r.md")"

# ---- completely or not at all ----
echo before >"$TMP/kept.html"
check_status 1 "no room" sh -c 'ulimit -f 20; exec poolscope-report -p "$0" -o "$1" --quiet' "$pool" "$TMP/kept.html"
check_text "leaves what was there" before "$(cat "$TMP/kept.html")"
stop aggregator
stop broker
