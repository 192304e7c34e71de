"""changes_judge - finds the changes of series once more, slowly and directly,
with exact ranks, and compares.  Lines of the file: "critical N VALUE", or
the number of changes, where they are, and the values.
SPDX-License-Identifier: MIT"""
import math
import sys
from fractions import Fraction

SIDE, MOST, LEAST = 4, 100, 10
TABLE = [2.469, 3.185, 3.523, 3.820, 4.060, 4.261, 4.397, 4.588, 4.733, 4.879,
         5.007, 5.156, 5.308, 5.426, 5.537]


def critical_of(n):
    if n < LEAST:
        return math.inf
    place = math.log2(n) - 3
    i = min(int(place), len(TABLE) - 2)
    return TABLE[i] + (TABLE[i + 1] - TABLE[i]) * (place - i)


def intervals(n):
    yield 0, n
    j = 1
    while True:
        length = n * math.sqrt(0.5) ** j
        if length < 2 * SIDE:
            return
        # A power of two must not be rounded up past itself.
        number = 2 ** (j / 2)
        number = round(number) if abs(number - round(number)) < 1e-9 else math.ceil(number)
        count = 2 * number - 1
        for i in range(count):
            shift = (n - length) / (count - 1) if count > 1 else 0
            yield math.floor(i * shift + 1e-9), min(n, math.ceil(i * shift + length - 1e-9))
        j += 1


def best(values, everywhere):
    """The greatest square of the difference over its chance, and all places
    that have it (but for rounding)."""
    n = len(values)
    if n < 2 * SIDE:
        return 0, set()
    rank = {}
    ordered = sorted(values)
    for v in set(values):
        rank[v] = Fraction(ordered.index(v) + n - ordered[::-1].index(v) - 1, 2) - Fraction(n - 1, 2)
    ranks = [rank[v] for v in values]
    variance = sum(r * r for r in ranks) / n
    if variance == 0:
        return 0, set()
    sums = [Fraction(0)]
    for r in ranks:
        sums.append(sums[-1] + r)
    found = []
    for a, b in (intervals(n) if everywhere else [(0, n)]):
        for k in range(a + SIDE, b - SIDE + 1):
            left = (sums[k] - sums[a]) / (k - a)
            right = (sums[b] - sums[k]) / (b - k)
            found.append(((left - right) ** 2 * (k - a) * (b - k) / (b - a) / variance, k))
    top = max(found)[0]
    return math.sqrt(top), {k for size, k in found if float(size) > float(top) * (1 - 1e-9)}


def widening(values, changes):
    """What a correlation of neighbours makes of the critical values (change_points.c)."""
    rank = {}
    ordered = sorted(values)
    for v in set(values):
        rank[v] = (ordered.index(v) + len(values) - ordered[::-1].index(v) - 1) / 2
    ends = [0, *changes, len(values)]
    levels = [[rank[v] for v in values[a:b]] for a, b in zip(ends, ends[1:])]

    def apart(distances):
        squares = [(level[i + d] - level[i]) ** 2 for level in levels for d in distances for i in range(len(level) - d)]
        return sum(squares) / len(squares) if squares else 0

    far = apart(range(3, 9))
    times, power, more = (0.95, 0.47, 0) if changes else (0.86, 0.55, 0.05)
    r = min(max(1.1 * (1 - apart([1]) / far if far else 0) + more, 0), 0.7)
    return times * ((1 + r) / (1 - r)) ** power


def find(values):
    """None: equally good places, of which any may be taken."""
    changes = find_wider(values, 1)
    if changes is None or len(values) < LEAST:
        return changes
    return find_wider(values, widening(values, changes))


def find_wider(values, wider):
    n = len(values)

    def critical(count):
        return wider * critical_of(count)

    parts, changes = [(0, n)], []
    while parts:
        a, b = parts.pop(0)
        size, places = best(values[a:b], True)
        if abs(size - critical(b - a)) < 1e-6:
            return None
        if size <= critical(b - a):
            continue
        if len(places) > 1:
            return None
        k = a + places.pop()
        changes.append(k)
        parts += [(a, k), (k, b)]
    changes.sort()
    while changes:
        weakest, which = 1, None
        for i in range(len(changes)):
            a = changes[i - 1] if i else 0
            b = changes[i + 1] if i + 1 < len(changes) else n
            size, places = best(values[a:b], False)
            if len(places) > 1:
                return None
            changes[i] = a + places.pop()
            if size / critical(b - a) < weakest:
                weakest, which = size / critical(b - a), i
        if which is None:
            break
        del changes[which]
    return changes


series = unclear = 0
for line in open(sys.argv[1]):
    words = line.split()
    if words[0] == "critical":
        n, value = int(words[1]), float(words[2])
        assert abs(value - critical_of(n)) < 1e-9, (n, value, critical_of(n))
        continue
    count = int(words[0])
    got = [int(w) for w in words[1:1 + count]]
    values = [float(w) for w in words[1 + count:]]
    wanted = find(values)
    series += 1
    if wanted is None:
        unclear += 1
    elif wanted != got:
        sys.exit("%d values: %s, not %s: %s" % (len(values), got, wanted, values))
assert unclear < series, "nothing was compared"
print("%d series, %d of them unclear" % (series, unclear))
