#!/bin/sh
# A store is dumped and its dump imported into an empty store: both answer every
# question with the same bytes.  Imported again it stores nothing more.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

recorded='prodacct$render-60'
farm='demo$farm'
benches='demo$benches'
here='demo$here'

# answers FOLDER: every answer of the instance about its pools.
answers() {
	mkdir -p "$1/plots" && cd "$1" || return
	for pool in "$recorded" "$farm" "$benches" "$here"; do
		name=$(echo "$pool" | tr '$' '-')
		poolscope-dump -q -p "$pool" --format jsonl >"dump-$name.jsonl"
		poolscope-stats phases -p "$pool" --format json >"phases-$name.json"
		# The order of phases is that of a key of each store.
		poolscope-dump -q -p "$pool" --kind phase,run --format jsonl | sort >"derived-$name.jsonl"
		[ "$pool" = "$benches" ] || poolscope-trace -q -p "$pool" -o "trace-$name.pftrace"
	done
	poolscope-stats cascade -p "$recorded" --format json >cascade.json
	poolscope-stats groups -p "$farm" --format json >groups.json
	poolscope-stats deltas -p "$farm" --format json >deltas.json
	poolscope-stats skew -p "$farm" --format json >skew.json
	poolscope-stats usage -p "$here" --format json >usage.json
	poolscope-stats spans -p "$here" --by track --format json >spans.json
	# Its age is that of the moment.
	poolscope-stats clocks -p "$here" --format json | grep -v '"age"' >clocks.json
	poolscope-results tests -p "$benches" --format json >tests.json
	poolscope-plot cascade -q -p "$recorded" -o plots --no-png
	poolscope-plot testrun -q -p "$farm" -o plots --no-png
	poolscope-plot samples -q -p "$here" -m "system.cpu.*" -o plots --no-png
	cd "$ROOT" || return
}

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent -p "$here" -n here-1 --period 200ms || exit 1
poolscope-emit -p "$here" job start --attr job=7 --attr 'who="Zoë\n"' --message "$(printf 'a\ttab')"
check "a command is a span" poolscope-run -p "$here" --name work -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
poolscope-import -q cascade deploy/demo/render-60.jsonl
poolscope-generate testrun -q --runs 20 --base 1700000000 -p "$farm"
mkdir "$TMP/results" "$TMP/archive"
poolscope-generate results -q --files 24 --tests 2 --entries 2 --base 1700000000 -o "$TMP/results"
poolscope-upload results -q -p "$benches" --target store -d "$TMP/results" -a "$TMP/archive"
check "the agent has sampled for three seconds" wait_until \
	'[ "$(poolscope-dump -q -p "$here" --kind sample --name cpu --format jsonl | wc -l)" -ge 15 ]' 60
poolscope-emit -p "$here" job stop --attr job=7 --wait stored
stop agent
wait_until indexed 60
answers "$TMP/before"
cat "$TMP"/before/dump-*.jsonl >"$TMP/all.jsonl"
for kind in event sample span entity; do
	check "there are records of kind $kind" grep -q "\"kind\": *\"$kind\"" "$TMP/all.jsonl"
done
stop broker
stop aggregator

DIR=$DIR-2
POOLSCOPE_DIR=$DIR
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
count=$(wc -l <"$TMP/all.jsonl")
check "the dump is imported" poolscope-import records "$TMP/all.jsonl"
check_text "... every record" "$count records, 0 bad lines" "$(cat "$TMP/out")"
wait_until indexed 60
answers "$TMP/after"
check_text "every answer has something, but benchmarks have no phases" "$TMP/before/derived-demo-benches.jsonl" \
	"$(find "$TMP/before" -type f -size 0)"
check "all answers are the same" diff -r "$TMP/before" "$TMP/after"

check "imported again" poolscope-import records "$TMP/all.jsonl"
check_text "... all are already there" "$count records, 0 bad lines, $count already there" "$(cat "$TMP/out")"
tail -n +2 "$TMP/all.jsonl" >"$TMP/less.jsonl"
check "... and without the first, as another file" poolscope-import records "$TMP/less.jsonl"
wait_until indexed 60
answers "$TMP/again"
check "... nothing is there twice" diff -r "$TMP/before" "$TMP/again"
stop broker
stop aggregator
check "the store is whole" poolscope-admin verify
