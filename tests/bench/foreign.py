"""foreign - samples of 1,000 series of other programs, for foreign.sh.

    foreign.py GROUPS SERIES SAMPLES >FILE

The series are shared out to so many metric groups, each with a label of its own; a sample
each 10 s.  Of ten series, as exporters have them, four never change, three count (by up to
100 a step), and three are measured (a random walk of three digits).
SPDX-License-Identifier: MIT
"""
import hashlib
import json
import random
import sys

GROUPS, SERIES, SAMPLES = map(int, sys.argv[1:4])
BEGIN = 1700002800  # a full hour
KINDS = "gauge gauge gauge gauge counter counter counter gauge gauge gauge".split()
draw = random.Random(1)
WIDTH = SERIES // GROUPS


def line(**members):
    members |= {"partition": "a$b", "node": "n1"}
    print(json.dumps(members, separators=(",", ":")))


def step(series, value):
    kind = series % 10
    if kind < 4:
        return value
    if kind < 7:
        return value + draw.randrange(100)
    return round(value + draw.uniform(-1, 1), 1)


groups = []
for number in range(GROUPS):
    series = range(number * WIDTH, (number + 1) * WIDTH)
    counts = any(KINDS[at % 10] == "counter" for at in series)
    names = ["poolscope.boot"] * counts + ["metric_%d" % (at % WIDTH) for at in series]
    types = ["gauge"] * counts + [KINDS[at % 10] for at in series]
    labels = '{"i":"%d"}' % number
    texts = labels, " ".join(names), "1" if counts else "", " ".join(types)
    name = "prom/" + hashlib.blake2b("".join(t + "\n" for t in texts).encode(), digest_size=16).hexdigest()[:12]
    line(kind="entity", entity="set", id=name, properties=dict(zip(("labels", "names", "units", "types"), texts)))
    groups.append((name, counts, series))
values = [draw.randrange(1000) if KINDS[at % 10] == "counter" else draw.randrange(1000) / 10 for at in range(SERIES)]
for at in range(SAMPLES):
    values = [step(series, value) for series, value in enumerate(values)]
    for name, counts, series in groups:
        line(kind="sample", set=name, time_ns=(BEGIN + 10 * at) * 10 ** 9,
             values=[0] * counts + [values[i] for i in series])
