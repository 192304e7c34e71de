#!/bin/sh
# Which rank of a parallel job comes last.  Twelve steps; step k, from 10 k s on, ends for all
# 9.5 s later, when the collective is over.
#
# r1 on n1 works until 6 s of the step, r2 on n2 until 7, r3 on n3 until 9.  r3 is last in
# all twelve.  The others wait for it 3 and 2 s: 12 x 5 = 60 s.  Without it the steps end with
# r2, 2 s earlier: 24 s.  It worked 108 s, the median rank (r2) 84.
# Who of three is last in 12 of 12 steps by chance?  One such rank 1/3^12; any, in either of
# two tests, at most 2 x 3 / 3^12 = 6 / 531441 = 1.129e-5.
# By chance each is last in 12/3 = 4.
#
# The clocks' errors are 1 ms.  r3 leads by 2 s: certain in all.  Where nothing is known of clocks,
# nothing can be decided.  If they may be off by 0.9 s each, 2 s are more than 1.8 s; by 1.1 s, 2 s are
# less than 2.2 s.  On one node (one) there is one clock.
#
# clean: r1, r2, r3 take turns to be last, four times each, with the same numbers.
#
# few: of these the first five steps.  2 x 3 / 3^5 = 0.025 is more than one in a hundred, of six
# it is 0.0082.
#
# tiny: the same, but r3 comes 5 ms after r2: 12 x 5 ms = 60 ms of 12 x 7.005 s, 0.07 %: no matter.
#
# lost: the same, without attribute step, and without the spans of work of r3 in steps 2 and 5, of
# r1 in step 7, and the wait of r2 in step 8.  r3 is last in 10 of 10; r2 is in steps 2 and 5, of
# two ranks.  In step 8 r2 counts as waiting from its arrival on: 10 steps of 5 s, but in step 7
# only r2 waits, 2 s: 47 s; r2 is waited for 1 s twice.  By chance r3 is last in 9/3 + 1/2 = 3.5.
#
# off: the same, without attribute step, the clock of n3 is 100 s fast, which is known.
#
# late: r4 and r5 are there, too, and work until 5 s.  The others wait 3 + 2 + 4 + 4 s, 12 x 13 =
# 156 s; by chance each is last in 12/5 = 2.4; the median rank (r1) works 72 s, r3 108 - 72 = 36 s
# more.  On n3 tasks wait for a processor half of the time, elsewhere never: that explains 50 s and
# more, which is all of it.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# job KIND
job() {
	/usr/bin/python3 - "$1" "$BASE" <<'END'
import sys
kind, base = sys.argv[1], int(sys.argv[2]) * 10 ** 9
NS = {"r1": 6, "r2": 7, "r3": 9}
known = kind not in ("blind", "one")
fast = {"r3": 100} if kind == "off" else {}
node = {r: "n1" if kind == "one" else "n" + r[1] for r in NS}
for n in sorted(set(node.values())) + (["n4", "n5"] if kind == "late" else []):
    ahead = 100 if kind == "off" and n == "n3" else 0
    if known:
        print("group", n, "clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge"
              " poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge"
              " poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge"
              " poolscope.clock.generation.begin:ns:gauge")
        for t in range(0, 125, 5):
            print("sample", t + ahead, n, "clock", -ahead * 10 ** 9, 1000000, 0, 0, 2000000, 1, base - 10 ** 12)
for step in range(5 if kind == "few" else 6 if kind == "six" else 12):
    turn = step % 3 if kind == "clean" else 0
    for i, r in enumerate(sorted(NS)):
        works = dict(NS, r3=7.005) if kind == "tiny" else NS
        done = sorted(works.values())[(i + turn) % 3]
        at = 10 * step + fast.get(r, 0)
        more = "" if kind in ("lost", "off") else " step=%d" % step
        if not (kind == "lost" and (r, step) in (("r3", 2), ("r3", 5), ("r1", 7))):
            print("span", at, "%.3f" % (at + done), node[r], "train/" + r, "forward" + more)
        if not (kind == "lost" and (r, step) in (("r3", 2), ("r3", 5), ("r1", 7), ("r2", 8))):
            print("span", "%.3f" % (at + done), at + 9.5, node[r], "train/" + r, "allreduce" + more)
if kind == "one":  # tasks wait there, those of all ranks
    print("group n1 pressure poolscope.boot:1:gauge system.linux.pressure.cpu.some:us:counter")
    for t in range(0, 125, 2):
        print("sample", t, "n1 pressure", 7, t * 500000)
if kind == "late":
    for n in ["n1", "n2", "n3", "n4", "n5"]:
        print("group", n, "pressure poolscope.boot:1:gauge system.linux.pressure.cpu.some:us:counter")
        if n > "n3":  # ranks that only say what is usual: they come first
            for step in range(12):
                print("span", 10 * step, 10 * step + 5, n, "train/r" + n[1], "forward step=%d" % step)
                print("span", 10 * step + 5, 10 * step + 9.5, n, "train/r" + n[1], "allreduce step=%d" % step)
        for t in range(0, 125, 2):
            print("sample", t, n, "pressure", 7, t * 500000 if n == "n3" else 0)
END
}
# shellcheck disable=SC2119 # no options
aggregate
for each in late clean six few tiny lost off blind one; do
	PARTITION='acct$'$each
	job $each | records
done
# of POOL COLUMNS ARGUMENT...: of table ranks.
of() {
	_pool=$1 _columns=$2
	shift 2
	columns "$_columns" poolscope-stats stragglers -p "acct\$$_pool" --work forward --wait allreduce \
		--table ranks --format csv "$@"
}
# says WHAT POOL SENTENCE ARGUMENT...
says() {
	_what=$1 _pool=$2 _sentence=$3
	shift 3
	check "$_what" poolscope-stats stragglers -p "acct\$$_pool" --work forward --wait allreduce "$@"
	check_printed "... $_what: in words" "$_sentence"
}
all=node,rank,verdict,steps,last,certain,expected,waited,alone
of_three="n3,train/r3,late,12,12,12,4.0,60,24
n1,train/r1,chance,12,0,0,4.0,0,0
n2,train/r2,chance,12,0,0,4.0,0,0"
answer "ranks of one node, of which one is always last" "$(echo "$of_three" | sed 's/^n./n1/')" of one $all
says "... in words" one "^rank train/r3 on n1 came last in 12 of 12 steps (by chance in 4.0): the others waited 60.0 s for it, all together, and without it the steps would have ended 24.0 s earlier$"
answer "... not because of what all ranks of the node had" "unknown,all ranks are on this node: what is measured there is the same for all" \
	columns cause,why poolscope-stats stragglers -p 'acct$one' --work forward --wait allreduce --format csv
check "..." poolscope-stats stragglers -p 'acct$one' --work forward --wait allreduce
check_printed "... the steps are those of the attribute" "the steps of the ranks are matched by attribute step"
answer "how likely it is by chance" "1.129e-05" sh -c 'poolscope-stats stragglers -p "acct\$one" --work forward \
	--wait allreduce --format json --table ranks | /usr/bin/python3 -c "import json, sys
print(\"%.4g\" % json.load(sys.stdin)[\"ranks\"][0][\"chance\"])"'
answer "each in turn, that is chance" "n1,train/r1,chance,12,4,4,4.0,20,8
n2,train/r2,chance,12,4,4,4.0,20,8
n3,train/r3,chance,12,4,4,4.0,20,8" of clean $all
says "... in words" clean "no rank comes last more often, or by more, than by chance"
answer "six steps are enough" "late
chance
chance" of six verdict
says "five are not" few "cannot decide who is late: 5 steps cannot part a slow rank of 3 from chance, it takes 6 at least"
answer "what costs the job less than 0.1 % is no matter" "n3,chance,12" of tiny node,verdict,last --top 1
answer "clocks of which nothing is known" "clock,12,0
chance,0,0
chance,0,0" of blind verdict,last,certain
says "... in words" blind "cannot decide whether rank train/r3 on n3 is late: it seems to come last in 12 of 12 steps, but only in 0 by more than clocks may be off"
check_printed "... and what helps" "nothing is known of the clock of 3 nodes: --clock-error says how far it may be off"
answer "... that are off by less than the lead" "$of_three" of blind $all --clock-error 900ms
answer "... by more" "clock,12,0" of blind verdict,last,certain --clock-error 1100ms --top 1
check "... which is no row of the table" poolscope-stats stragglers -p 'acct$blind' --work forward --wait allreduce
answer "a clock that is 100 s off, which is known" "$of_three" of off $all
answer "spans that are lost" "n3,train/r3,late,10,10,10,47,20
n2,train/r2,chance,12,2,2,2,2
n1,train/r1,chance,11,0,0,0,0" of lost node,rank,verdict,steps,last,certain,waited,alone
says "... by chance" lost "rank train/r3 on n3 came last in 10 of 10 steps (by chance in 3.5)"
says "... in words" lost "in 3 of 12 steps spans of some ranks are missing: whoever is there is compared"
check_printed "... matched by time" "the steps of the ranks are matched by time, as not all spans have attribute step"
check_printed "... and a wait" "no wait follows 1 work span"
answer "why" "n3,span:forward,train/r3,108,72,36,24,cpu,1.0" columns node,phase,key,time,usual,lost,drag,cause,share \
	poolscope-stats stragglers -p 'acct$late' --work forward --wait allreduce --format csv
answer "... in table ranks" "n3,train/r3,late,12,12,12,2.4,156,24" of late $all --top 1
wrong_usage "work without wait" "work and --wait need each other" poolscope-stats stragglers -p 'acct$late' --work forward
check_status 1 "spans that are not there" poolscope-stats stragglers -p 'acct$late' --work forwrd --wait allreduce
check_printed "... with those that are" "forward"
