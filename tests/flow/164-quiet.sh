#!/bin/sh
# -q: of standard error only errors stay, in every verb; the exit status and standard
# output are the same with it and without.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are parts of names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'poolscope down >/dev/null 2>&1; _end' EXIT
check "an instance" poolscope up || exit 1
poolscope import cascade deploy/demo/render-60.jsonl >/dev/null 2>&1
head -c 200 deploy/demo/render-60.jsonl >"$TMP/cut.jsonl"
cat >"$TMP/model.conf" <<'END'
phase "work:all" {
	start = "work:start"
	end = "work:end"
}
END
mkdir "$TMP/results" "$TMP/archive" "$TMP/spool"

# VERB|COMMAND: says something on standard error without -q (! in front: it may).
cat >"$TMP/list" <<'END'
up|!up
nodes|!nodes -p none$such
why|!why -p none$such
compare|!compare -p none$such
status|!status
config|!config show agent
models|!models check @/model.conf
partition|!partition list
keys|!keys list
emit|emit a b
job|job start 1
run|run -- true
import|!import cascade @/empty
generate|!generate testrun --runs 1 -p a$g
stats|!stats phases -p none$such
top|!top -p none$such
report|!report -p none$such -o @/report.html
plot|plot cascade -p prodacct$render-60 -o @/pictures
trace|trace -p none$such -o @/none.json
dump|dump -p none$such
results|!results tests -p none$such
upload|upload results -d @/results -a @/archive --target store
fetch|!fetch --help
spool|!spool ls @/spool
wire|!wire decode @/empty
admin|!admin verify
backup|backup @/backup
agent|!agent --help
broker|!broker --help
aggregator|!aggregator --help
archive|archive check --to clickhouse://localhost:1/none
web|!web --help
mcp|!mcp
receiver|!receiver --help
restore|!restore @/none --dir @/other
down|!down
demo|!demo --help
END
: >"$TMP/empty"
while IFS='|' read -r verb command; do
	quietly=${command#!} said=must
	[ "$quietly" = "$command" ] || said=may
	command=$(printf '%s' "$quietly" | sed "s|@|$TMP|g")
	[ "$verb" != down ] || poolscope down >/dev/null 2>&1
	# The option belongs before the words of another command.
	case $verb in run) silent="run -q -- true" ;; *) silent="$command -q" ;; esac
	# shellcheck disable=SC2086 # words
	{
		timeout 60 poolscope $silent >"$TMP/quiet" 2>"$TMP/err" </dev/null
		quiet_status=$?
		[ "$verb" != backup ] || rm -rf "$TMP/backup"
		timeout 60 poolscope $command >"$TMP/loud" 2>"$TMP/said" </dev/null
		loud_status=$?
	}
	check_text "$verb: the status is the same" "$loud_status" "$quiet_status"
	[ "$loud_status" -ne 0 ] || check_text "$verb: nothing on standard error" "" "$(cat "$TMP/err")"
	case $verb in
	upload | generate | import | status | nodes | admin) ;; # times and sums differ
	*) check "$verb: the same on standard output" cmp "$TMP/quiet" "$TMP/loud" ;;
	esac
	case $said in may) ;; *) check "$verb: without -q it says something" test -s "$TMP/said" ;; esac
done <"$TMP/list"
check_text "every verb is in the list" "" "$(poolscope --help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' |
	while read -r verb; do grep -q "^$verb|" "$TMP/list" || echo "$verb"; done)"
