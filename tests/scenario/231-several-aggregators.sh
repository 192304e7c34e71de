#!/bin/sh
# Two sites have an aggregator each, one and two.  One keeps acct$blue (3 events of 2 nodes) and
# acct$both (1 event, at 100 s); two keeps acct$red (1 event) and acct$both (2 events of one
# node, the last at 400 s).  Asked together they have 2 + 2 = 4 partitions, 2 + 1 + 1 + 1 = 5
# nodes and 3 + 1 + 1 + 2 = 7 events.  A pool is read where it is kept, whatever the order of
# the endpoints.  acct$both is kept twice: the answer is that of two, where its newest record
# is, and a warning names both.  When two is gone, acct$blue is read all the same, with a warning that
# names it; acct$red, which nobody who answers keeps, is not, nor is the status.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

unset POOLSCOPE_PARTITION
one=ipc://$DIR/run/reader.ipc
first=$DIR
second=$TMP/second
two=ipc://$second/run/reader.ipc
# shellcheck disable=SC2119 # no arguments
aggregate
mkdir -m 700 "$second"
start two poolscope-aggregator --dir "$second" || exit 1

PARTITION='acct$blue'
records <<-'END'
	event 100 n1 work:a
	event 200 n1 work:b
	event 250 n2 work:c
END
PARTITION='acct$both'
records <<-'END'
	event 100 b1 work:a
END
DIR=$second
export POOLSCOPE_DIR="$second"
PARTITION='acct$red'
records <<-'END'
	event 300 r1 work:a
END
PARTITION='acct$both'
records <<-'END'
	event 300 b1 work:a
	event 400 b1 work:b
END
DIR=$first
export POOLSCOPE_DIR="$first"

# events PARTITION ENDPOINT...: their names; what is logged is in $TMP/said.
events() {
	_of=$1
	shift
	for _at; do
		set -- "$@" --connect "$_at"
		shift
	done
	timeout 60 poolscope-dump -p "$_of" "$@" --kind event --format jsonl 2>"$TMP/said" >"$TMP/jsonl" || return
	/usr/bin/python3 -c 'import json, sys
print(*[json.loads(line)["name"] for line in open(sys.argv[1])])' "$TMP/jsonl"
}
for order in "$one $two" "$two $one"; do
	# shellcheck disable=SC2086 # endpoints
	{
		answer "a pool of one" "a b c" events 'acct$blue' $order
		check_text "... without a word" "" "$(cat "$TMP/said")"
		answer "a pool of two" "a" events 'acct$red' $order
		answer "a pool of both is read where its newest record is" "a b" events 'acct$both' $order
		check "... with a warning" grep -q "partition acct.both is kept by $one and by $two: reading $two, where its newest record is" "$TMP/said"
	}
done
answer "the other one alone has it, too" "a" events 'acct$both' "$one"
check "both in a configuration" sh -c "printf 'connect = { \"%s\", \"%s\" }\n' '$one' '$two' >'$TMP/conf'"
answer "... are asked" "1" sh -c "poolscope-dump --config '$TMP/conf' -p 'acct\$red' --kind event --format jsonl | grep -c work"

check "the status of both" poolscope-stats status --connect "$one" --connect "$two"
check_text "... is well" "ok: all is well" "$(head -1 "$TMP/out")"
check_printed "... has the sums" "^store  *2 stores, 4 partitions, 5 nodes, 7 records, "
check_text "... a row for each, where it is kept" 'acct$blue 2 3
acct$both 1 1
acct$both 1 2
acct$red 1 1' "$(awk '/^acct/ { print $1, $2, $3 }' "$TMP/out" | LC_ALL=C sort)"
check_printed "... and says what is kept twice" "^kept by more than one aggregator"
check "as JSON" "$ROOT/tests/flow/counters.py" --connect "$one" --connect "$two"
cp "$TMP/out" "$TMP/json"
answer "... each for itself" "$one 2 4 acct\$blue acct\$both
$two 2 3 acct\$both acct\$red" /usr/bin/python3 -c 'import json, sys
for at in json.load(open(sys.argv[1]))["sources"]:
    print(at["from"], at["store"]["partitions"], at["store"]["records_event"], *sorted(at["partitions"]))' "$TMP/json"
check "all counters of both" poolscope-stats status -v --connect "$one" --connect "$two"
check_text "... are there" 2 "$(grep -c '^aggregator  *hellos ' "$TMP/out")"
check_status 1 "a mistyped pool of one of them" poolscope-stats phases -p 'acct$rad' --connect "$one" --connect "$two"
check_printed "... is named" 'there is no such partition; did you mean acct.red?$'
check_status 2 "the same endpoint twice is a mistake" poolscope-dump -p 'acct$red' --connect "$one" --connect "$one"
check_printed "... that is named" "connect $one is given twice"

# A third one has nothing.
mkdir -m 700 "$TMP/third"
start three poolscope-aggregator --dir "$TMP/third" || exit 1
three=ipc://$TMP/third/run/reader.ipc
answer "next to an empty one" "a b c" events 'acct$blue' "$three" "$one"
check "the status of three" poolscope-stats status --connect "$three" --connect "$two" --connect "$one"
check_printed "... has the same sums" "^store  *3 stores, 4 partitions, 5 nodes, 7 records, "
check_status 1 "a pool of nobody" poolscope-stats phases -p 'acct$none' --connect "$three" --connect "$one"
check_printed "... is in none of them" "in $three, $one; there is no such partition"
check_status 1 "... and cannot be followed" timeout 60 poolscope-dump --follow -p 'acct$none' --connect "$three" --connect "$one"
check_printed "... as it may begin in any" "none of them has partition acct.none yet; follow it where it will be, with one --connect"
timeout 60 poolscope-dump --follow --cursor "$TMP/position" -p 'acct$red' --kind event --connect "$one" --connect "$two" >"$TMP/followed" 2>&1 &
follower=$!
wait_until 'test -s "$TMP/position"' 30
DIR=$second
POOLSCOPE_DIR=$second
PARTITION='acct$red'
records <<-'END'
	event 500 r1 work:later
END
DIR=$first
POOLSCOPE_DIR=$first
check "a pool of one of them is followed there" wait_until 'grep -q later "$TMP/followed"' 30
kill "$follower"
stop three

stop two
answer "a pool of one that answers" "a b c" events 'acct$blue' "$two" "$one"
check "... with a warning that names the other" grep -q "$two: .*; reading partition acct.blue from $one" "$TMP/said"
check_status 1 "a pool of the one that does not" events 'acct$red' "$one" "$two"
check "... and a sentence that names it" grep -q "$two: .*is the aggregator running" "$TMP/said"
check_status 3 "the status of both is critical" poolscope-stats status --connect "$one" --connect "$two"
check_printed "... and names the one" "$two: "
