#!/bin/sh
# A farm with two groups of devices, described by entities: r1 and r2 are of phones, asked
# for by ann and bob, r3 of phones by ann, r4 of tablets by bob; r3 ended with an error; r5
# has no description.
#   r1  flashes 3 s on the first day, r2 5 s, r3 4 s and r4 7 s on the second (86,400 s on),
#   r5  flashes 9 s on the second day.
# None reached its end (run:publish), so all but r3 are unfinished.
#
# The second day: phones: r2 and r3, one of them with an error, 5 and 4 s: p50 is the first
# of two, 4; the mean 4.5; requested by ann once (r3) and bob once (r2).  Errors are 1 of 1
# ended and 1 of 2 of all.  tablets: r4, 7 s.  Unknown: r5, 9 s.
# Both days together are what the store says of all time.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
{
	echo "entity n1 run r1 device_group=phones requestor=ann"
	echo "entity n1 run r2 device_group=phones requestor=bob"
	echo "entity n1 run r3 device_group=phones requestor=ann error=lost"
	echo "entity n1 run r4 device_group=tablets requestor=bob"
	flash_run 100 3 r1
	flash_run 90000 5 r2
	flash_run 90100 4 r3
	flash_run 90200 7 r4
	flash_run 90300 9 r5
} | records
# flash ARGUMENT...: the flashes of each group by emission: group, runs, errors and so on.
flash() {
	poolscope-stats groups --format json "$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
for g in answer["rows"]:
    for r in answer["steps"]:
        if (r["group"], r["phase"], r["time"], r["of"]) == (g["group"], "flash", "event_emit", "per_iteration"):
            print(g["group"] or "-", str(g["known"]).lower(), g["runs"], g["errors"], r["count"], r["p50"], r["mean"])' "$TMP/json"
}
second=$(at 86400)
answer "the first day" "phones true 1 0 1 3.0 3.0" flash --to "$second"
answer "the second day" "phones true 2 1 2 4.0 4.5
tablets true 1 0 1 7.0 7.0
- false 1 0 1 9.0 9.0" flash --from "$second"
answer "a group of it" "tablets true 1 0 1 7.0 7.0" flash --from "$second" --group 'tab*'
answer "from the begin of a run on, and not its flash" "phones true 1 1 1 4.0 4.0" \
	flash --from "$(at 90100)" --to "$(at 90101)"
check_status 1 "a mistyped group" poolscope-stats groups --group phnoes
check_printed "... is answered with the nearest" "did you mean phones?"
poolscope-stats groups --format json >"$TMP/all.json"
poolscope-stats groups --format json --from 1970-01-01 >"$TMP/window.json"
answer "a window of all is the statistics of all time" "same" /usr/bin/python3 -c 'import json, sys
def exact(x):
    if isinstance(x, dict):  # quantiles of the store are estimates, within 1 %
        return {k: (round(v, 1) if k in ("p50", "p90", "p99") and v else
                    round(v, 9) if isinstance(v, float) else exact(v)) for k, v in x.items()}
    return sorted(map(exact, x), key=str) if isinstance(x, list) else x
a, b = (exact({k: v for k, v in json.load(open(name)).items() if k not in ("from", "to")}) for name in sys.argv[1:])
print("same" if a == b else (a, b))' "$TMP/all.json" "$TMP/window.json"
check "who asked, as a table" poolscope-stats groups --from "$second" --group phones
check_printed "... one each" "^phones  *ann  *1$"
check "errors of the second day" poolscope-plot testrun --view errors --no-png -o "$TMP/drawn" --from "$second"
check_text "... one of one ended, of two in all" "phones 2 1 1 100.000000 50.000000" \
	"$(grep -h phones "$TMP"/drawn/*.dat)"
check "all pictures of it" poolscope-plot testrun --view all --no-png -o "$TMP/every" --from "$second"
