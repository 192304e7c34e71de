# compare - how often the comparison of runs errs, in as many trials as its limits are of.
#
#	SEED=1 TRIALS=10000 sh tests/bench/compare.sh
#
# What was recorded while nothing changed: how long test runs took, how long nodes of a pool
# took to be ready and, of the recorded causes, how long the load took where only the pull was slowed.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
groups=$(mktemp -d)
trap 'rm -rf "$groups"' EXIT
/usr/bin/python3 - "$groups" <<'END'
import json
import os
import sys


def write(name, durations):
    with open(os.path.join(sys.argv[1], name), "w") as file:
        file.writelines("%r\n" % duration for duration in durations if duration > 0)


for case in "m02_fortyfive", "m03_irregular_60", "m04_thousand":
    runs = json.load(open("tests/golden/testrun/%s/expected/run_deltas.json" % case)).values()
    for step in "testrun", "flash":
        write("%s.%s" % (case, step), [sum(run[step]) for run in runs if run.get(step)])
nodes = json.load(open("tests/golden/cascade/p07_pool60_p2p/expected/timing.json"))["nodes"].values()
write("p07_pool60.nodes", [node["timing"]["global_resources_loaded"] for node in nodes])
truth = [json.loads(line) for line in open("tests/judge/recorded/truth.jsonl")]
write("recorded.load", [of["seconds"]["load-end"] for of in truth if of["kind"] in ("clean", "clock", "network", "places")])
END
"$B/bench/compare" "${TRIALS:-10000}" "${SEED:-1}" "$groups"/*
