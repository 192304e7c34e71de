#!/bin/sh
# How often a reader waits for an aggregator far away before it has an answer: what
# it knows that it will ask goes in one piece.
#
# By hand: of samples the reader asks for the times of the partition, the estimates of
# clocks, the definitions of metric groups and for gaps, none of which needs another
# one's answer.  The window of the samples does.  So it waits twice, and of other
# questions once for each that needs the answer before.  Of times of processors it asks
# how many there are before it asks for the samples; of phases, which are those of the
# newest start, what a start is before it asks for anything in its window.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

aggregate_steps
records <<-'END'
	group n1 app app.depth:{thing}:gauge
	sample 10 n1 app 5
	sample 20 n1 app 7
	event 30 n1 work:start
	event 40 n1 work:end
END

start between "$ROOT/tests/flow/round_trips.py" "ipc://$TMP/between.ipc" \
	"ipc://$DIR/run/reader.ipc" "$TMP/trips" || exit 1

# trips NAME WANTED COMMAND...: the command waits as often as WANTED has lines, and
# answers what it answers without anybody in between.
trips() {
	_trips=$1
	_lines=$2
	shift 2
	rm -f "$TMP/trips"
	"$@" >"$TMP/direct" 2>&1
	check "$_trips" "$@" --connect "ipc://$TMP/between.ipc"
	cp "$TMP/out" "$TMP/far"
	check_text "... with as few round trips as it needs" "$_lines" "$(cat "$TMP/trips")"
	check_text "... and the same answer" "$(cat "$TMP/direct")" "$(cat "$TMP/far")"
}

trips "samples" "status select select select
select" poolscope-stats samples -m app.depth --format csv
trips "samples of processors, too" "status select select select
select
select" poolscope-stats samples --format csv
trips "phases" "stats
stats select select
stats" poolscope-stats phases --format csv
trips "samples of a node, which must exist" "stats
status select select select
select" poolscope-stats samples -m app.depth --node n1 --format csv
