#!/bin/sh
# What an operator does to a store changes no answer.
#
# Three nodes run a step of 10, 20 and 60 s, and n2 starts it once more and never ends
# it.  A gauge of n1 is 2, 4 and 9.
#   count 3, least 10, greatest 60, mean (10 + 20 + 60) / 3 = 30, one open start
# The same text must come from the aggregator, from its store, after all hours are
# compacted, after phases are derived again, after free space is given back, from a
# backup, and from a store that was restored.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	group n1 height level:1:gauge
	event   0 n1 work:start
	event  10 n1 work:end
	event   5 n2 work:start
	event  25 n2 work:end
	event 100 n2 work:start
	event  30 n3 work:start
	event  90 n3 work:end
	sample  1 n1 height 2
	sample  2 n1 height 4
	sample  3 n1 height 9
END

PHASES="3,10.0,60.0,30.0,1"
DUMPED="n1,22:13:20,22:13:30
n2,22:13:25,22:13:45
n2,22:15:00,
n3,22:13:50,22:14:50"
LEVELS="2
4
9"

# levels OPTION...: the values of the gauge, in the order of their times.
levels() {
	poolscope-dump --kind sample --name height "$@" |
		/usr/bin/python3 -c 'import json, sys
for line in sys.stdin: print(*json.loads(line)["values"])'
}

# steps OPTION...: node, begin and end of each phase.
steps() {
	columns node,time,end poolscope-dump --kind phase --format csv "$@" |
		sed 's/2023-11-14T//g; s/\.0*Z//g' | sort
}

# unchanged WHERE OPTION...: ask all three questions.
unchanged() {
	_where=$1
	shift
	answer "the statistics, $_where" "$PHASES" columns count,min,max,mean,open_starts \
		poolscope-stats phases --format csv "$@"
	answer "the phases, $_where" "$DUMPED" steps "$@"
	answer "the samples, $_where" "$LEVELS" levels "$@"
}

unchanged "asked of the aggregator" --connect "ipc://$DIR/run/reader.ipc"
unchanged "read from its store" --store "$DIR/store"
check "a backup is made meanwhile" poolscope-admin backup "$TMP/backup"
stop aggregator

unchanged "after the aggregator ended" --store "$DIR/store"
check "all hours are compacted" poolscope-admin compact --models "$TMP/models"
unchanged "compacted" --store "$DIR/store"
check "phases are derived again" poolscope-admin rebuild --models "$TMP/models"
unchanged "derived again" --store "$DIR/store"
check "free space is given back" poolscope-admin vacuum
unchanged "after that" --store "$DIR/store"
check "the backup is installed" poolscope-admin restore "$TMP/backup" --set-aside
unchanged "restored" --store "$DIR/store"
unchanged "in the store that was set aside" --store "$DIR/store.aside-1"
