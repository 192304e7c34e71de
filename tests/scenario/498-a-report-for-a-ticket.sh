#!/bin/sh
# What a report says first, as Markdown, as text and as a page: the same sentences, worked out by hand.
#
# acct$pool, in seconds after BASE, 2023-11-14 22:13:20: three starts.  In the first n1 to n6 prepare 0-100
# (ready after 100 s) and pull "a_b" for 20 s, in the second they prepare 10000-10120 (120 s).  In the third,
# from 20000 on, they prepare for 90 s, but n6 for 95 s: the last is ready at 20095, 2023-11-15 03:48:15.
# They pull "a_b" until 20110, 20 s, n6 15 s; n3 until 20190, 100 s, which is the newest record: 03:49:50.
# The median of 15, 10 times 20, 100 is 20 s; that of 5 times 90, 95, 6 times 100, 6 times 120 is 100 s.
#
# acct$starting, in seconds after 290 s ago: n1 and n2 prepare 0-280, n3 has not ended and was heard at 280;
# 3 records were lost on n1, which needs attention for a day.  None is silent for 10 minutes, and the start is not over.
# acct$watched: n1 and n2 were heard now, n3 half an hour ago; all were ready after 10 s,
# but n3, and the start is over.
# acct$even: six nodes prepare for 10 s each: too few to say what is usual.
# acct$plain: two events that are of no phase, at 0 on n1 and at 10 on n2.
# acct$farm: run a is published after 62 s, run b waits.
# acct$one: n1 prepares 0-20; its samples at 0, 10 and 20.  Of four metrics one does not change, and of what
# is free the other side would be shown: two are, that of the GPU first.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model_of_starts
cp "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate --models "$TMP/models"
three_starts a_b | records
PARTITION='acct$even'
for i in 1 2 3 4 5 6; do
	printf 'event %s n'"$i"' work:%s\n' 0 prepare 10 prepared
done | records
PARTITION='acct$plain'
printf 'event 0 n1 app:hello\nevent 10 n2 app:hello\n' | records
PARTITION='acct$farm'
records <<-'END'
	event 0 n1 run:request run=a device_group=phones
	event 2 n1 run:queue_end run=a
	event 62 n1 run:publish run=a
	event 70 n1 run:request run=b device_group=phones
END
PARTITION='acct$one'
records <<-'END'
	event 0 n1 work:prepare
	event 20 n1 work:prepared
	group n1 g app.flat:1:gauge app.loss:1:gauge hw.gpu.utilization:1:gauge system.memory.usage.free:By:gauge
	sample 0 n1 g 1 8 0.25 4096
	sample 10 n1 g 1 4 0.75 2048
	sample 20 n1 g 1 2 0.5 1024
END
BASE=$(($(date +%s) - 290))
STARTED=$(date -u -d "@$BASE" +%Y-%m-%dT%H:%M:%SZ)
PARTITION='acct$starting'
{
	printf 'event 0 n%s work:prepare\n' 1 2 3
	printf 'event 280 n%s work:prepared\n' 1 2
	echo "event 280 n3 work:note"
	echo "gap 100 110 n1 event full 3"
} | records
BASE=$(date +%s)
PARTITION='acct$watched'
{
	printf 'event -1800 n%s work:prepare\n' 1 2 3
	printf 'event -1790 n%s work:prepared\n' 1 2
	printf 'event 0 n%s work:note\n' 1 2
} | records
WATCHED=$(date -u -d "@$((BASE - 1800))" +%Y-%m-%dT%H:%M:%SZ)

# report POOL: as Markdown, text and a page.
report() {
	for format in md text html; do
		poolscope-report -q -p "acct\$$1" --format $format -o "$TMP/$1.$format" || return
	done
}
# page POOL MEMBER: what the data of the page have.
page() {
	/usr/bin/python3 -c '
import base64, gzip, json, re, sys
page = open(sys.argv[1]).read()
of = json.loads(gzip.decompress(base64.b64decode(re.search(r"id=\"data\">([^<]*)<", page).group(1))))[sys.argv[2]]
print(*[each if isinstance(each, str) else each["metric"] for each in of], sep="\n")' "$TMP/$1.html" "$2"
}
# Without how old a record is, which a busy machine changes.
ageless() {
	sed 's/, [^,]* before this answer//'
}
UNTOLD="What nodes waited for of each other is not known: the model does not say it (after, after_any, end_after, places)."
# says POOL SENTENCES: each of the three does.
says() {
	check "$1: reports" report "$1"
	check_text "... the page says" "$2" "$(page "$1" sentences | ageless)"
	check_text "... the text" "$2" "$(sed -n '4,/^$/p' "$TMP/$1.text" | sed '/^$/d' | ageless)"
	check_text "... Markdown" "$2" "$(sed -n '3,$p' "$TMP/$1.md" | sed '/^## /,$d; /^Left out/,$d; /^Made/,$d; /^$/d; s/\\//g' | ageless)"
}
# table POOL TITLE: the rows of a table in the Markdown.
table() {
	sed -n "/^## $2\$/,/^## /p" "$TMP/$1.md" | sed -n 's/^| //p' | sed '1d; s/ *| */ /g; s/ *|* *$//'
}

says pool "All 6 nodes are ready since 2023-11-15T03:48:15Z, 95.0 s after the first began. The 2 starts before took 100.0 s to 120.0 s.
n3 lost most: pull of a_b took 100.0 s, usually 20.0 s.
Nothing was heard since 2023-11-15T03:49:50Z.
No records were lost.
$UNTOLD"
check_text "... of slow nodes the one" 'n3 work:pull a\_b 100.0 s 20.0 s 80.0 s no' "$(table pool "Slowest nodes")"
check_text "... and of nodes that need attention none" "" "$(table pool "Nodes that need attention")"
check "of the first start" poolscope-report -q -p 'acct$pool' --start 2023-11-14T22:13:20Z --format text -o "$TMP/first"
check "... it says so" grep -q "^All 6 nodes are ready since 2023-11-14T22:15:00Z, 100.0 s after the first began\.$" "$TMP/first"
check "of the second one" poolscope-report -q -p 'acct$pool' --start 2023-11-15T01:00:00Z --format text -o "$TMP/second"
check "... with the one before" grep -q "120.0 s after the first began\. The start before took 100.0 s\.$" "$TMP/second"
says even "All 6 nodes are ready since 2023-11-14T22:13:30Z, 10.0 s after the first began.
Nothing was heard since 2023-11-14T22:13:30Z.
No records were lost.
$UNTOLD"
says starting "Starting since $STARTED: 2 of 3 nodes are ready, the last of them after 280.0 s.
1 of 3 nodes needs attention: n1 (records lost).
3 records of this time were lost (1 gap): poolscope dump --kind gap shows which.
$UNTOLD"
says watched "The start of $WATCHED is incomplete: 2 of 3 nodes became ready, the last of them after 10.0 s.
1 of 3 nodes needs attention: n3 (not heard; start incomplete).
No records were lost.
$UNTOLD"
check_text "... which is the only one in the table" "n3 silent not heard; start incomplete" \
	"$(table watched "Nodes that need attention" | sed 's/silent .* not/silent not/')"
says plain "2 records of 2 nodes from 2023-11-14T22:13:20Z to 2023-11-14T22:13:30Z; no start of the pool is known.
Nothing was heard since 2023-11-14T22:13:30Z.
No records were lost."
says farm "2 runs in 1 group: 1 finished, 0 with an error, 0 ongoing, 1 queued.
Nothing was heard since 2023-11-14T22:14:30Z.
No records were lost."
says one "The node is ready since 2023-11-14T22:13:40Z, 20.0 s after it began.
Nothing was heard since 2023-11-14T22:13:40Z.
No records were lost.
$UNTOLD"
check_text "... its metrics, those of the machine first" "hw.gpu.utilization g 1 0.25 0.75
app.loss g 1 2.00 8.00" "$(table one Metrics | cut -d' ' -f1-4,6)"
check_text "... the same on the page" "hw.gpu.utilization
app.loss" "$(page one metrics)"
check "... one line says what is left out" grep -qxF "Left out: 2 other metrics (poolscope stats samples -p 'acct\$one')." "$TMP/one.text"
stop aggregator
