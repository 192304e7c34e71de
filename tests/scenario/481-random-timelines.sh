#!/bin/sh
# Bars of random phases: phases inside others, across others, that begin at once, without
# length or end, and nodes that begin again.  timelines.py says what each moment belongs to.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

NODES=${NODES:-150}
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "# seed $SEED"
for n in 0 1 2 3; do
	printf 'phase "p%s" {\n\tstart = "s:p%s"\n\tend = "s:p%s-end"\n\tkey = "k"\n%s}\n' $n $n $n \
		"$([ $n != 0 ] || printf '\trequired = true\n.' | tr -d .)"
done | model random
aggregate --models "$TMP/models"
timelines() {
	/usr/bin/python3 "$ROOT/tests/scenario/timelines.py" "$1" "$SEED" "$NODES"
}
timelines make | records
answered() {
	poolscope-stats timeline --format csv "$@" >"$TMP/csv" || return
	/usr/bin/python3 -c 'import calendar, csv, sys, time
def after(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - int(sys.argv[2])
for of in csv.DictReader(open(sys.argv[1])):
    print(of["node"], after(of["begin"]), after(of["end"]), of["phase"].replace("random:", ""), of["key"],
          {"true": "open", "false": "-"}[of["open"]], of["lane"])' "$TMP/csv" "$BASE"
}
timelines cut >"$TMP/cut"
timelines lanes >"$TMP/lanes"
check "there is something to judge" sh -c 'test "$(wc -l <"$0")" -gt $((5 * $1))' "$TMP/cut" "$NODES"
answered >"$TMP/answered"
check "the bars" diff "$TMP/cut" "$TMP/answered"
answered --lanes >"$TMP/answered"
check "the lanes" diff "$TMP/lanes" "$TMP/answered"
stop aggregator
