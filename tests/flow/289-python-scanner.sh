#!/bin/sh
# Profiles of Scanner jobs in Python: of a database, and of a partition, the numbers and
# the events that the older tool had for the recorded cases of tests/golden/scanner.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
export TMPDIR="$TMP"
cases=$ROOT/tests/golden/scanner

cat >"$TMP/profile.py" <<'END'
import json, os, sys, warnings
from poolscope import Incomplete
from poolscope.scanner import Profile

sys.path.insert(0, sys.argv[1])
import scanner as judge

case, db, job, wanted_damage = sys.argv[2:6]
with warnings.catch_warnings(record=True) as reported:
    warnings.simplefilter("always")
    profile = Profile(db, job)
assert [w.category for w in reported] == [Incomplete] * int(wanted_damage), reported
want = {group: sums for group, sums in judge.load(case + "/expected/statistics.json").items() if sums != {}}
got = profile.statistics()
assert list(got) == list(want), (list(got), list(want))
for group, sums in want.items():
    if group == "total_time":
        wrong = list(judge.same_value(group, sums, got[group]))
    else:
        assert list(got[group]) == list(sums), (group, got[group])
        wrong = [w for name, value in sums.items() for w in judge.same_value(name, value, got[group][name])]
    assert not wrong, wrong
outputs = judge.load(case + "/case.json")["outputs"]
assert list(profile.total_time_interval()) == outputs["total_time_interval"], profile.total_time_interval()
path = os.path.join(os.environ["TMP"], "out.trace")
assert profile.write_trace(path) == path
wrong = list(judge.same_events(judge.events(case + "/expected/trace.jsonl"), judge.without_lanes(path)))
assert not wrong, wrong[:5]
END
profiled() {
	py -W error "$TMP/profile.py" "$cases" "$@"
}

for case in "$cases"/s0*; do
	name=$(basename "$case")
	bad=0
	[ "$name" != s07_corrupt_counter_count ] || bad=1
	check "$name: a database" profiled "$case" "$case/db" "$(ls "$case/db/jobs")" $bad
done
program chosen.py <<'PY'
import os
import random
import sys
import warnings

import poolscope.scanner

cases = sys.argv[1]
random.seed(1)
chosen = set()
for _ in range(8):
    profile = poolscope.scanner.Profile(cases + "/s02_two_workers/db", 3, subsample=1)
    (worker,) = profile._workers()
    chosen.add(worker["node"])
assert chosen == {"0", "1"}, chosen
if os.fork() == 0:
    sys.exit()  # the store is the parent's
os.wait()
assert profile.total_time_interval()

with warnings.catch_warnings(record=True) as reported:
    warnings.simplefilter("always")
    folder = cases + "/s07_corrupt_counter_count/db"
    poolscope.scanner.Profile(folder, os.listdir(folder + "/jobs")[0])
assert "profile_0.bin: offset 250: 1000001 counters" in str(reported[0].message), reported[0].message
try:
    poolscope.scanner.Profile(folder, 99)
except poolscope.StoreError as problem:
    print(problem)
PY
check "workers are chosen at random; a damaged place is named" py -W error "$TMP/chosen.py" "$cases"
check_printed "a job that is not there is refused at once" "jobs/99"
check "a large job is generated" /usr/bin/python3 "$cases/s10_generated_1m/gen.py" --scale 0.1 --out "$TMP/large"
check "... traced when all of it is stored" py -c 'import sys, poolscope.scanner
poolscope.scanner.Profile(sys.argv[1], 7).write_trace(sys.argv[2])' "$TMP/large" "$TMP/large.trace"
check "... with the events of its files" /usr/bin/python3 "$cases/scanner.py" files "$TMP/large" 7 "$TMP/large.trace"
check_text "nothing of it stays" "" "$(find "$TMP" -mindepth 1 -maxdepth 1 -name 'poolscope.*')"
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" && start broker poolscope-broker || exit 1
check "a job is imported" poolscope-import scanner -p 'golden$scanner' --job 3 "$cases/s02_two_workers/db"
check "... and indexed" wait_until "poolscope-stats scanner -p 'golden\$scanner' --job 3" 30
check "s02: a partition" profiled "$cases/s02_two_workers" 'golden$scanner' 3 0
for wrong in "'golden\$scanner', 4" "'golden\$scanner', 3, subsample=1" "'$TMP/nix', 3" "'$cases/s01_one_worker/db', 77"; do
	check_status 1 "not there: $wrong" py -c "from poolscope.scanner import Profile
Profile($wrong).statistics()"
done
