#!/bin/sh
# Somebody emits events of their own, and no model names their source.
#
# Of three sources, each with its way of naming, on n1:
#   build:start 0, build:end 20         none:build            20 s
#   ci:test-start 20, ci:test-end 25    none:ci:test           5 s
#   ci:pack-begin 30, ci:pack-end 33    none:ci:pack           3 s
# The end of ci:pack arrives before its start.
# A key decides: two downloads overlap, id 1 from 100 to 140 and id 2 from 110 to 120.
# Without the key the end at 120 would belong to the start at 110 (10 s), and the one at
# 140 to none.  The start says more than the end: img is the first that both have, in
#   push:start img=a step=1 at 200, push:end img=a at 207   7 s
#   push:start img=b step=1 at 201, push:end img=b at 203   2 s
# Nothing pairs of deploy:start id=1 at 300 and deploy:end id=2 at 310: other values.
# On n2 build:end comes alone.  A source that a model names has phases by the model only:
# work:start and work:end are work:step, work:other-start and work:other-end are nothing.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event 0 n1 build:start
	event 20 n1 build:end
	event 20 n1 ci:test-start
	event 25 n1 ci:test-end
	event 33 n1 ci:pack-end
	----
	event 30 n1 ci:pack-begin
	event 100 n1 download:start id=1
	event 110 n1 download:start id=2
	event 120 n1 download:end id=2
	event 140 n1 download:end id=1
	event 200 n1 push:start img=a step=1
	event 201 n1 push:start img=b step=1
	event 203 n1 push:end img=b
	event 207 n1 push:end img=a
	event 300 n1 deploy:start id=1
	event 310 n1 deploy:end id=2
	event 320 n2 build:end
	event 330 n2 work:start
	event 340 n2 work:end
	event 330 n2 work:other-start
	event 340 n2 work:other-end
	event 350 n2 upstart:restart
	event 351 n2 upstart:weekend
END
answer "phases of one's own, and those of the model" "work:step,1,10.0
none:build,1,20.0
none:ci:test,1,5.0
none:ci:pack,1,3.0
none:download,2,50.0
none:push,2,9.0
none:deploy,0,0.0" columns phase,count,sum poolscope-stats phases --format csv
answer "their events, and that nothing was promised of them" "none:ci:pack,ci:pack-begin,ci:pack-end,false" \
	columns phase,start,end,required poolscope-stats phases --name none:ci:pack --format csv
answer "by node: the end of n2 that has no start" "n1,1,0
n2,0,1" columns node,count,open_ends poolscope-stats phases --by node --name none:build --format csv
answer "by key" "a,7.0
b,2.0" columns key,sum poolscope-stats phases --by key --name none:push --format csv
check "people see no phase that never had a pair" poolscope-stats phases
check_text "... deploy" 0 "$(grep -c deploy "$TMP/out")"

# Each program names them alike.
answer "records of phases" "none,build,,
none,build,,20000000000
none,ci:pack,,3000000000
none,ci:test,,5000000000
none,download,1,40000000000
none,download,2,10000000000" sh -c '
	poolscope-dump --kind phase --format csv >"$TMP/all" &&
	/usr/bin/python3 -c "import csv, sys
for line in sorted(\",\".join(row[name] for name in (\"source\", \"name\", \"key\", \"duration_ns\"))
                   for row in csv.DictReader(open(sys.argv[1])) if row[\"name\"] in (\"build\", \"ci:test\", \"ci:pack\", \"download\")):
    print(line)" "$TMP/all"'
answer "a timeline of them" "none:build,
none:ci:test,
none:ci:pack,
none:download,1
none:download,2
none:download,1
none:push,a
none:push,b
none:push,a" columns phase,key poolscope-stats timeline --model none --format csv
check "... says so to people" poolscope-stats timeline --model none
check_printed "..." "what nodes of acct.pool did when, by no model"
check "slow nodes of them" poolscope-stats slow --model none
check "a breakdown of them" poolscope-stats breakdown --model none
check_printed "... says so to people" "in each phase of no model"
check "pictures of them" poolscope-plot phases --model none -o "$TMP/pictures"
check_text "... have their name" acct-pool-none-phases.png \
	"$(cd "$TMP/pictures" && find . -name '*.png' | sed 's|./||' | sort | paste -sd,)"
check "a view of now" poolscope-top --once

# What would make phases, where there are none.
export POOLSCOPE_PARTITION='acct$other'
PARTITION='acct$other'
records <<-'END'
	event 0 n1 lamp:on
	event 1 n1 lamp:start
END
check_status 1 "a pool in which nothing pairs" poolscope-stats phases
check_printed "... says what would" "two events X:start and X:end of a node make one (poolscope emit X start, poolscope emit X end), with the same id, key, img or step if they have one"
check_status 1 "... a timeline too" poolscope-stats timeline
check_printed "..." "two events X:start and X:end of a node make one"
check_status 1 "... and a picture" poolscope-plot phases -o "$TMP/pictures"
check_printed "..." "two events X:start and X:end of a node make one"
