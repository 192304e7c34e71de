#!/bin/sh
# How long nodes were in the phases of a model of one's own: "outer" has "inner" in it, "tail" comes later, "get" has a key.
#
#	n1  outer 0-100, in it inner 20-50 and 60-70; tail 130-140
#	    inner 30 + 10 = 40 s, outer the rest of 100: 60 s, no phase 100-130: 30 s,
#	    tail 10 s; 140 s in all
#	n2  outer and inner both 10-30: the later one of the model counts, inner 20 s;
#	    a start of tail at 40 has no end and is left out
#	n3  get disk 50-55
#
# Every moment counts once: the bands of a node add up to its total.  The bars are in the
# order of the starts, 0, 10 and 50 s; the bands in the order of the model, "no phase" last.
# From 5 s on n1 began the two inner and the tail: 20-50, 60-70 and 130-140 are 40 s and
# 10 s, with 10 + 60 = 70 s of no phase between them; 120 s in all, and n2 is first.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "outer" { start = "o:start" end = "o:end" }
	phase "inner" { start = "i:start" end = "i:end" }
	phase "tail" { start = "t:start" end = "t:end" }
	phase "get" { start = "g:start" end = "g:end" key = "what" }
END
model never <<-'END'
	phase "step" { start = "n:start" end = "n:end" }
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 o:start
	event 20 n1 i:start
	event 50 n1 i:end
	event 60 n1 i:start
	event 70 n1 i:end
	event 100 n1 o:end
	event 130 n1 t:start
	event 140 n1 t:end
	event 10 n2 o:start
	event 10 n2 i:start
	event 30 n2 o:end
	event 30 n2 i:end
	event 40 n2 t:start
	event 50 n3 g:start what=disk
	event 55 n3 g:end what=disk
END

# table: the numbers of the picture, without zeros behind the point.
table() {
	sed 's/\.0*\( \|$\)/\1/g' "$TMP/out.d/acct-pool-work-breakdown.dat"
}

check "a picture of the model" poolscope-plot phases --view breakdown --model work -o "$TMP/out.d"
check_text "every moment counts once" "First Last Node outer inner tail get no%20phase Total
1 1 n1 60 40 10 0 30 140
2 2 n2 0 20 0 0 0 20
3 3 n3 0 0 0 5 0 5" "$(table)"
check "what is left out is counted" grep -q 'Left out: 1 without an end' "$TMP/out.d/acct-pool-work-breakdown.plot"
check "it is a picture" /usr/bin/python3 "$ROOT/tests/golden/compare.py" png "$TMP/out.d/acct-pool-work-breakdown.png"
rm -r "$TMP/out.d"
check "the file of the model names it, too" poolscope-plot phases --model "$TMP/models/work.conf" \
	--view breakdown --no-png -o "$TMP/out.d" --from "$(at 5)"
check_text "... in a window" "First Last Node inner tail get no%20phase Total
1 1 n2 20 0 0 0 20
2 2 n1 40 10 0 70 120
3 3 n3 0 0 5 0 5" "$(table)"
rm -r "$TMP/out.d"
check "without a model" poolscope-plot phases --view all --no-png -o "$TMP/out.d" -n n3
check_text "... all that have phases" "acct-pool-work-breakdown.dat
acct-pool-work-breakdown.plot
acct-pool-work-distribution.dat
acct-pool-work-distribution.plot
acct-pool-work-phases.dat
acct-pool-work-phases.plot" "$(ls "$TMP/out.d")"
check "letters" poolscope-plot phases --view breakdown --term dumb
check_printed "are a picture, too" "seconds in the phase, added up"
check_status 1 "a model that is not there" poolscope-plot phases --model wrok
check_printed "... is answered with those that are" "no model wrok in .*, which has never, work;"
check_status 1 "a model without phases" poolscope-plot phases --model never
check_printed "... is a plain sentence" "no phases of model never of partition acct.pool in "

check "a trace" poolscope-trace --kind phase -o "$TMP/work.json"
check_text "has the phase and its key on the slice" "get disk,inner,inner,inner,outer,outer,tail,tail" \
	"$(/usr/bin/python3 -c 'import json, sys
print(",".join(sorted(e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X")))' "$TMP/work.json")"
