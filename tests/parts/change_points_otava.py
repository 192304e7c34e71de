"""change_points_otava - our detector of changes beside Apache Otava, on the same series.

    change_points_otava.py PROGRAM SEED SERIES

Series of 100 values of six noises, without a change and with one of 5 % at the 60th value,
go through change_points_of and Otava.  Otava is given the p-value with which it has as many
false alarms as ours, or the most that are not more, for each noise its own; ours is not told
what the noise is.  If it has more with each, it is given the strictest.  A step counts as found within
two values.  Fails if Otava finds more in a noise (by more than three deviations of the
difference), or where ours has more false alarms than 1 % and what chance adds.
SPDX-License-Identifier: MIT
"""
import math
import random
import subprocess
import sys

from otava.analysis import compute_change_points

PROGRAM, SEED, SERIES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
VALUES, AT, STEP, PROMISED = 100, 60, 1.05, 0.01
EXPONENTS = (-12, -2)  # of p-values, powers of ten


def correlated(rng, r):
    values = [rng.gauss(0, 1)]
    while len(values) < VALUES:
        values.append(r * values[-1] + math.sqrt(1 - r * r) * rng.gauss(0, 1))
    return [1 + 0.02 * value for value in values]


NOISES = {
    "normal 2 %": lambda rng: [1 + 0.02 * rng.gauss(0, 1) for _ in range(VALUES)],
    "lognormal 10 %": lambda rng: [math.exp(0.1 * rng.gauss(0, 1)) for _ in range(VALUES)],
    "3 % outliers": lambda rng: [(1 + 0.02 * rng.gauss(0, 1)) * (1.5 if rng.random() < 0.03 else 1) for _ in range(VALUES)],
    "two modes": lambda rng: [(1 + 0.01 * rng.gauss(0, 1)) * (1.05 if rng.random() < 0.5 else 1) for _ in range(VALUES)],
    "AR(1) 0.3": lambda rng: correlated(rng, 0.3),
    "AR(1) 0.5": lambda rng: correlated(rng, 0.5),
}


def ours(many):
    lines = "\n".join(" ".join(map(repr, [len(series), *series])) for series in many) + "\n"
    done = subprocess.run([PROGRAM], input=lines, capture_output=True, text=True, check=True)
    return [list(map(int, line.split())) for line in done.stdout.split("\n")[:len(many)]]


def otava(many, pvalue):
    return [[point.index for point in compute_change_points(series, window_len=50, max_pvalue=pvalue)[0]] for series in many]


def alarms(points):
    return sum(bool(of) for of in points)


def found(points):
    return sum(any(abs(at - AT) <= 2 for at in of) for of in points)


def otava_with(calm, most):
    """The p-value of as many alarms, and how many these are."""
    low, high = EXPONENTS
    count = alarms(otava(calm, 10 ** low))
    while count < most and high - low > 0.1:
        middle = (low + high) / 2
        tried = alarms(otava(calm, 10 ** middle))
        if tried <= most:
            low, count = middle, tried
        else:
            high = middle
    return 10 ** low, count


bad = 0
for name, noise in NOISES.items():
    rng = random.Random("%d %s" % (SEED, name))
    calm = [noise(rng) for _ in range(SERIES)]
    stepped = [[value * STEP if i >= AT else value for i, value in enumerate(noise(rng))] for _ in range(SERIES)]
    our_alarms, our_finds = alarms(ours(calm)), found(ours(stepped))
    pvalue, their_alarms = otava_with(calm, our_alarms)
    their_finds = found(otava(stepped, pvalue))
    print("%-15s false alarms in %d: %d, Otava %d (p %.1g); found: %d, Otava %d"
          % (name, SERIES, our_alarms, their_alarms, pvalue, our_finds, their_finds))
    share = max(our_finds, their_finds, 1) / SERIES
    bad += their_finds - our_finds > 3 * math.sqrt(2 * SERIES * share * (1 - share)) + 1
    bad += our_alarms > 1.3 * PROMISED * SERIES + 4 * math.sqrt(PROMISED * SERIES)
sys.exit(bad)
