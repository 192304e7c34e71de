#!/bin/sh
# Numbers of one's own: poolscope emit --sample, and a page in Prometheus' text format,
# through a real agent into the store, and what the readers answer.
#
# queue.length (jobs) of rank 3 is 17, 19, 18 at 0, 10, 20 s: 17 to 19; of rank 4 it is 2,
# once.  tokens counts 100, 300, 20, 70 at 0, 10, 20, 30 s: 20 a second, then it began
# again, which is no rate, then 5 a second: two rates from 5 to 20, by time (20 + 5) / 2.
# The page has pages_total 7 and 27 at 0 and 10 s, in milliseconds and in seconds: 2 a
# second, and a temperature of 21.5 degrees at 10 s in the hall b.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
emit() {
	check "emit $*" poolscope-emit "$@" --wait stored
}
for s in 0:17:100 10:19:300 20:18:20 30:18:70; do
	t=${s%%:*} v=${s#*:}
	[ "$t" = 30 ] || emit --sample queue.length="${v%:*}" --unit 'queue.length={job}' --label rank=3 --ts "$(at "$t")"
	emit --sample tokens="${v#*:}" --counter tokens --ts "$(at "$t")"
done
emit --sample queue.length=2 --unit 'queue.length={job}' --label rank=4 --ts "$(at 5)"
{
	echo "# TYPE pages_total counter"
	echo "pages_total{site=\"a\"} 7 ${BASE}000"
	echo "pages_total{site=\"a\"} 27 $((BASE + 10)).0 # {id=\"x\"} 1"
	echo "hall_celsius{hall=\"b\"} 21.5 $((BASE + 10))000"
	echo "wrong{ 5"
} >"$TMP/page"
check_status 1 "a page with one bad line" poolscope-emit --prometheus "$TMP/page" --wait stored
check_text "... which is reported by its number" "$TMP/page:5: a name is missing
poolscope-emit: 3 numbers published, 1 line left out" "$(cat "$TMP/err")"
wait_until indexed 30 || exit 1

sorted() {
	columns "$@" | LC_ALL=C sort
}
answer "the numbers of emit" ',tokens,,2,5.0,20.0
{"rank":"3"},queue.length,{job},3,17.0,19.0
{"rank":"4"},queue.length,{job},1,2.0,2.0' sorted labels,metric,unit,count,min,max \
	poolscope-stats samples --metric-group 'emit/*' --format csv
answer "the rate of a counter that began again" "12.5,1" columns mean,left_out \
	poolscope-stats samples -m tokens --format csv
answer "the numbers of the page" '{"hall":"b"},hall_celsius,Cel,1,21.5,21.5
{"site":"a"},pages_total,,1,2.0,2.0' sorted labels,metric,unit,count,min,max \
	poolscope-stats samples --metric-group 'prom/*' --format csv
# An hour has room for 10,000 series of an origin, of which the page before has two:
# this one would have 10,100 more.  All of them are counters.
/usr/bin/python3 -c 'print("# TYPE m counter")
for i in range(10100): print("m{i=\"%d\"} 1" % i)' >"$TMP/many"
check_status 1 "too many label sets" poolscope-emit --prometheus "$TMP/many"
check_text "... are refused, counted and named in one sentence" 'error poolscope-emit: 102 of 10100 metric groups of the page are not published, the others are; the first is that of m{"i":"9998"}, refused: metric group prom/X: more than 10000 series of this origin in an hour' \
	"$(sed 's|prom/[0-9a-f]*|prom/X|' "$TMP/err")"
check_status 1 "... also those of the next page" poolscope-emit --prometheus "$TMP/many" --wait stored
# The page before has three samples, and its two series.
check_text "... and the rest is stored" "$((2 * 9998 + 3))" "$(poolscope-dump -q --kind sample --name 'prom/*' | wc -l)"

answer "dump has the labels, too" '{"rank":"3"},queue.length,{job},17
{"rank":"3"},queue.length,{job},18
{"rank":"3"},queue.length,{job},19
{"rank":"4"},queue.length,{job},2' sorted labels,metric,unit,value \
	sh -c 'poolscope-dump --kind sample --format long --name "emit/*" | grep -e labels -e queue'
check "JSON lines" sh -c 'poolscope-dump --kind sample --name "emit/*" | grep rank >"$0"' "$TMP/jsonl"
check_text "... have them as an object" "{'rank': '3'} {'rank': '3'} {'rank': '3'} {'rank': '4'}" "$(/usr/bin/python3 -c '
import json, sys
print(*sorted(str(json.loads(line)["labels"]) for line in open(sys.argv[1])))' "$TMP/jsonl")"
answer "CSV has them as JSON" '{"rank":"4"},[2]' sh -c 'poolscope-dump --kind sample --name "emit/*" --format csv --columns labels,values |
	sed -e 1d -e "s/\"\"/\"/g" -e "s/^\"//" -e "s/}\"/}/" | grep "4.}"'
check "a table of records" poolscope-dump --kind sample --format table
check_printed "... has a column of labels" '^KIND .* LABELS'
check_printed "... of each sample" 'emit/.*{"rank":"4"}'

# The unit of tokens was not given: it is unknown, and not 1.
unit_of() {
	/usr/bin/python3 -c '
import json, sys
print({repr(row["unit"]) for row in json.load(sys.stdin)["rows"]})'
}
check_text "an unknown unit is null in JSON" "{'None'}" "$(poolscope-stats samples -m tokens --format json | unit_of)"
check_text "... of series" "{'None'}" "$(poolscope-stats series -m tokens --format json | unit_of)"
check_text "... and one that was given is there" "{\"'{job}'\"}" "$(poolscope-stats series -m queue.length --format json --as lines | unit_of)"
answer "... empty in the dump" "tokens," sh -c 'poolscope-dump --kind sample --format long --columns metric,unit | grep tokens | sort -u'
emit --sample share=0.5 --unit share=1 --ts "$(at 0)"
answer "one that is 1 is 1" "share,1" sh -c 'poolscope-dump --kind sample --format long --columns metric,unit | grep share'
check_text "... everywhere" "{\"'1'\"}" "$(poolscope-stats samples -m share --format json | unit_of)"
check "a table of an unknown one" poolscope-stats samples -m tokens
check_printed "... has none" 'tokens  *-  *2 '

# A new column makes another group: depth 1, 2, 3, 4 at 0, 10, 20, 30 s and the counter
# read, 60 more each 10 s, are one series each.
for s in 0 10 20 30; do
	[ "$s" -lt 20 ] || set -- --sample new=1
	emit --sample depth=$((s / 10 + 1)) --sample read=$((60 * s / 10)) --counter read --label disk=a "$@" --ts "$(at "$s")"
done
answer "a new column does not end a series" '{"disk":"a"},depth,4,1.0,4.0
{"disk":"a"},read,3,6.0,6.0' sorted labels,metric,count,min,max poolscope-stats samples -m depth -m read --format csv
answer "... nor its line" "10 1.0 10 2.0 10 3.0 10 4.0" /usr/bin/python3 -c '
import json, subprocess
of = json.loads(subprocess.run(["poolscope-stats", "series", "-m", "depth", "--as", "lines", "--format", "json"],
                               check=True, stdout=subprocess.PIPE).stdout)
lines = [line["step"] for line in of["lines"]]
print(*("%g %.1f" % (lines[0], row["mean"]) for row in of["rows"] if len(lines) == 1))'
check "... nor its picture" poolscope-plot samples -m depth --no-png -q -o "$TMP/depth"
check_text "... of which there is one" 1 "$(find "$TMP/depth" -name '*.plot' | wc -l)"
check_text "... with four values" 4 "$(grep -c '^[0-9]' "$TMP"/depth/*.dat)"

check "a table of them" poolscope-stats samples -m queue.length
check_printed "... has a column of labels" 'emit/.*{"rank":"4"}'
check "the series of one as a table" poolscope-stats series -m hall_celsius
check_printed "... says whose they are" '^GROUP .* LABELS$'
check_printed "... in each row" 'hall_celsius .*{"hall":"b"}$'
check "the series of one" poolscope-stats series -m hall_celsius --format json --table lines
check_printed "... has its labels" '"labels": "{\\"hall\\":\\"b\\"}"'
check "a picture of them" poolscope-plot samples -m hall_celsius -o "$TMP/pictures"
check "... has the labels in its title" grep -q '{"hall":"b"}\|hall' "$TMP"/pictures/*.plot
