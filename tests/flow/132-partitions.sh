#!/bin/sh
# What a store keeps, as it is shown.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

long='account$a-pool-whose-name-takes-more-than-its-column'
pool='prodacct$render-60'

# field FORMAT NAME PARTITION [OPTION...]: of one row, as another program
# reads it.
field() {
	_format=$1
	_field=$2
	_row=$3
	shift 3
	poolscope-partitions list --format "$_format" "$@" | /usr/bin/python3 -c 'import csv, json, sys
form, name, part = sys.argv[1:]
rows = (json.load(sys.stdin)["rows"] if form == "json" else
        [json.loads(line) for line in sys.stdin] if form == "jsonl" else list(csv.DictReader(sys.stdin)))
print(*[row.get(name, "") for row in rows if row.get("partition") == part])' "$_format" "$_field" "$_row"
}

check_status 1 "without a store there is nothing to list" poolscope-partitions list
check_printed "... which says what to give" "no store in $DIR/store: .*--dir or --store"
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
poolscope-import -q cascade deploy/demo/render-60.jsonl
poolscope-generate testrun -q --runs 9 --base 0 -p "$long"
wait_until indexed
printf 'poolscope-partitions 1\nversion 7\n%s\tipc://%s/run/intake.ipc\n*\ttcp://a-host-with-a-name-of-some-length.example.org:5571\n' \
	"$pool" "$DIR" >"$DIR/partitions"
mv "$DIR/partitions" "$TMP/table"
check_text "without the brokers' table it is empty" "[]" "$(poolscope-partitions list --format json |
	/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["routes"])')"
check_text "... and has titles" "pattern,endpoint" "$(poolscope-partitions list --format csv --table routes)"
mv "$TMP/table" "$DIR/partitions"
events=$(poolscope-dump -p "$pool" --kind event --format csv | tail -n +2 | wc -l)

check "a store says what it keeps" poolscope-partitions list
cp "$TMP/out" "$TMP/list"
check_printed "... a long name whole" '^account\$a-pool-whose-name-takes-more-than-its-column  *0  *[1-9]'
check_printed "... with the brokers' table" "^version 7 of the partition table $DIR/partitions"
check_text "... a title, a line each, the same of the table, and its version" 10 "$(wc -l <"$TMP/list")"
for format in json jsonl csv; do
	check_text "as $format a row has its count" "$events" "$(field $format records "$pool")"
	check_text "... and those of its nodes" 60 "$(field $format nodes "$pool")"
	check_text "... and where brokers send it" "ipc://$DIR/run/intake.ipc" "$(field $format endpoint "$pool")"
done
wrong_usage "a format is for the list" "^poolscope-partitions: --format is for list, not for drop" \
	poolscope-partitions drop "$pool" --format json
wrong_usage "a verb is needed" "^poolscope-partitions: missing argument" poolscope-partitions
stop aggregator
check "one is dropped without an aggregator" poolscope-partitions drop --yes "$pool"
check_text "... and its records are gone" "" "$(field jsonl records "$pool")"
check "... the store is whole" poolscope-admin verify
start aggregator poolscope-aggregator --accept "$long" || exit 1
check "who sends what --accept does not match" sh -c '! poolscope-import -q --timeout 3s cascade deploy/demo/render-60.jsonl'
check_text "... makes no partition" "$long" "$(poolscope-partitions list --format jsonl |
	/usr/bin/python3 -c 'import json, sys; print(*[row["partition"] for row in map(json.loads, sys.stdin) if "partition" in row])')"
