#!/bin/sh
# A program numbers its messages, and names what it does in img.  No model names its source.
#
# n1, before anything pairs: two starts, which may be of any length,
#   pull:start id=1 img=a at 0, pull:start id=2 img=b at 2
# and two ends, which have other ids: img is what a start and an end share.
#   pull:end id=3 img=b at 5, pull:end id=4 img=a at 9   a 9 s, b 3 s
# The same of one image twice on n2, where the first start was lost, and once more a start:
#   pull:end id=6 img=a at 20, pull:start id=7 img=a at 30, pull:start id=8 img=a at 31,
#   pull:end id=9 img=a at 35                             a 4 s, one end and one start alone
#
# load, with one img, is two at a time on n1, and each has an id for its start and its end:
#   load:start id=1 img=x at 100, load:start id=2 img=x at 101,
#   load:end id=1 img=x at 107, load:end id=2 img=x at 120   7 s and 19 s
# By img the end at 107 would belong to the start at 101, and that at 120 to none.  The
# start of id 2 arrives when the others are paired by img; ids of another node prove
# nothing, nor does an end before its start.
#
# sync has nothing that a start and an end share: id at 200 and at 210, 1 and 2.
# The aggregator is killed between starts and ends, and all is derived again.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir "$TMP/none"
# pairs NAME: each pair by node, key and seconds, and what is open.
pairs() {
	poolscope-dump --kind phase --name "$1" --format jsonl >"$TMP/pairs" || return
	/usr/bin/python3 -c 'import json, sys
for line in sorted("%s %s %s" % (p["node"], p["key"] or "-", "start" if p["end_ns"] is None else "end" if p["begin_ns"] is None
                                 else (p["end_ns"] - p["begin_ns"]) // 10 ** 9) for p in map(json.loads, open(sys.argv[1]))):
    print(line)' "$TMP/pairs"
}
aggregate --models "$TMP/none"
records <<-'END'
	event 0 n1 pull:start id=1 img=a
	event 2 n1 pull:start id=2 img=b
	event 101 n1 load:start id=2 img=x
	event 107 n1 load:end id=1 img=x
	event 90 n2 load:end id=2 img=y
	event 95 n2 load:start id=2 img=z
	event 96 n2 load:start id=1 img=z
	event 200 n1 sync:start id=1
	event 210 n1 sync:end id=2
END
answer "starts that wait" "n1 1 start
n1 2 start" pairs none:pull
answer "loads by image: nothing else is the same" "n1 x 6
n2 y end
n2 z start
n2 z start" pairs none:load
stop aggregator KILL
aggregate --models "$TMP/none"
records <<-'END'
	event 5 n1 pull:end id=3 img=b
	event 9 n1 pull:end id=4 img=a
	event 20 n2 pull:end id=6 img=a
	event 35 n2 pull:end id=9 img=a
	event 120 n1 load:end id=2 img=x
END
records <<-'END'
	event 30 n2 pull:start id=7 img=a
	event 31 n2 pull:start id=8 img=a
	event 100 n1 load:start id=1 img=x
END
all() {
	answer "$1: pulls by image" "n1 a 9
n1 b 3
n2 a 4
n2 a end
n2 a start" pairs none:pull
	answer "$1: loads by id" "n1 1 7
n1 2 19
n2 1 start
n2 2 end
n2 2 start" pairs none:load
	answer "$1: nothing pairs of sync" "n1 1 start
n1 2 end" pairs none:sync
	answer "$1: statistics, all that is open and its ends" "none:pull,3,16.0,2,1
none:load,2,26.0,3,1" columns phase,count,sum,open,open_ends sh -c \
		'poolscope-stats phases --format csv | grep -v none:sync'
	answer "$1: by key" "a,2,13.0
b,1,3.0" columns key,count,sum poolscope-stats phases --by key --name none:pull --format csv
}
all "all is there"
stop aggregator KILL
aggregate --models "$TMP/none"
all "after a restart"
stop aggregator
check "all is derived again" poolscope-admin rebuild --models "$TMP/none"
check "... and consistent" poolscope-admin verify
aggregate --models "$TMP/none"
all "derived again"
