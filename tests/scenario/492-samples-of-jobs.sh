#!/bin/sh
# What is measured while jobs run.  Gauges are sampled each 10 s, from 0 to 390:
#
#	level on n1 is the time, on n2 1000 more, on n4 the time
#	app.x on n1 is 10 at 200, 20 at 210, 30 at 300, 40 at 310, else 0
#	done on n1 is a counter: it grows by 1 a second, by 2 from 100 to 110, by 4 from 110 to 120
#
#	a (ada)	n1 [100, 200)	10 values, 100 to 190: mean 145
#		n2 [150, 350)	20 values, 1150 to 1340: mean 1245; both: (10 * 145 + 20 * 1245) / 30 = 878.33...
#	b (bob)	n1 [106, 111)	one value, 110; of the counter 4 s of 2 a second and 1 s of 4: (8 + 4) / 5 = 2.4
#	c (bob)	n1 [109, 112)	runs at the same time as b: of bob's [106, 112) it is (8 + 2 * 4) / 6 = 2.666...,
#				and the value at 110 counts once
#	d	n1 [200, 215)	queued again
#		n1 [300, 320)	values at 200, 210, 300, 310, 10 s each: mean 255.  A value of a program
#				counts until the next one, not until the next run of the job: 10, 20, 30, 40: 25
#	e	n4 [0, 400)	all of its 40 values: mean 195
#	f	n1 [380, ...	has not ended: 380 and 390
#
# When only rollups are left, what e did is known as before; of a it is not, and nothing is made up.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate_jobs
/usr/bin/python3 - <<'END' | records
print("group n1 depth level:1:gauge\ngroup n1 app/x app.x:1:gauge\ngroup n1 work done:1:counter")
done = 0
for t in range(0, 400, 10):
    print("sample", t, "n1 depth", t)
    print("sample", t, "n2 depth", 1000 + t)
    print("sample", t, "n4 depth", t)
    print("sample", t, "n1 app/x", {200: 10, 210: 20, 300: 30, 310: 40}.get(t, 0))
    print("sample", t, "n1 work", done)
    done += 10 * {100: 2, 110: 4}.get(t, 1)
for line in """
a n1 100 200 user=ada
a n2 150 350 user=ada
b n1 106 111 user=bob
c n1 109 112 user=bob
d n1 200 215
d n1 300 320
e n4 0 400
f n1 380 -
""".split("\n"):
    if line:
        job, node, begin, end, *more = line.split()
        for when, name in (begin, "start"), (end, "end"):
            if when != "-":
                print("event", when, node, "job:" + name, "job=" + job, *more)
END
# numbers NAMES OPTION...: of one table row each, rounded to 6 digits.
numbers() {
	_numbers=$1
	shift
	columns "$_numbers" poolscope-stats samples --format csv "$@" >"$TMP/columns" || return
	/usr/bin/python3 -c 'import sys
def short(word):
    try:
        return "%.6g" % float(word)
    except ValueError:
        return word
for line in open(sys.argv[1]):
    print(",".join(map(short, line.strip().split(","))))' "$TMP/columns"
}
ask_all() {
	answer "$1, level of a by node" "n1,10,100,145,190
n2,20,1150,1245,1340" numbers node,count,min,mean,max --by node -m level --job a
	answer "$1, of all its nodes" "30,100,878.333,1340" numbers count,min,mean,max -m level --job a
	answer "$1, of a on n1 from 150 on" "5,150,170,190" numbers count,min,mean,max -m level --job a -n n1 --from "$(at 150)"
	answer "$1, of b" "1,110,110,110" numbers count,min,mean,max -m level --job b
	answer "$1, the counter of b" "2,2,2.4,4" numbers count,min,mean,max -m 'done' --job b
	answer "$1, the counter of bob" "2,2,2.66667,4" numbers count,min,mean,max -m 'done' --user bob
	answer "$1, level of bob" "1,110" numbers count,mean -m level --user bob
	answer "$1, level of d, which ran twice" "4,200,255,310" numbers count,min,mean,max -m level --job d
	answer "$1, a program of d" "4,10,25,40" numbers count,min,mean,max -m app.x --job d
	answer "$1, level of e" "40,0,195,390" numbers count,min,mean,max -m level --job e
	answer "$1, of f, which runs" "2,380,385,390" numbers count,min,mean,max -m level --job f
	# The steps of 10 s of ada: 10 on n1 and 20 on n2 have a value.
	check "$1, the series of ada" poolscope-stats series -m level --user ada --as lines --step 10s --format csv
	check_text "... has those of a" "n1 10 n2 20" "$(/usr/bin/python3 -c 'import collections, csv, sys
of = collections.Counter(row["node"] for row in csv.DictReader(open(sys.argv[1])) if row["mean"])
print(*["%s %d" % pair for pair in sorted(of.items())])' "$TMP/out")"
}
ask_all "by an aggregator"
stop aggregator
POOLSCOPE_STORE=$DIR/store
export POOLSCOPE_STORE
ask_all "from the store"
check "all is compacted" poolscope-admin compact --models "$TMP/models"
ask_all "compacted"
unset POOLSCOPE_STORE

delete_samples
answer "only rollups, e" "40,0,195,390" numbers count,min,mean,max -m level --job e
check_status 1 "only rollups, a" poolscope-stats samples -m level --job a
check_printed "... is refused" "a job began or ended on node n1 between 2023-11-14T22:[0-9:]*Z and .* only the samples together are known"
check_status 1 "only rollups, the counter of b" poolscope-stats samples -m 'done' --job b
