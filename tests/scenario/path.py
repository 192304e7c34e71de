"""path - the critical path of a pool that pulls images, from its phases, as waits.h defines it.

    path.py PHASES.jsonl    prints "offset,duration,kind,node,phase" in ns, a line a piece

By searches through all phases, for each one that the path goes through; the rules are those of
deploy/models/cascade.conf, written down here once more.
SPDX-License-Identifier: MIT
"""
import heapq
import json
import sys

AFTER = {"shipyard-pull": ["nodeprep"], "global-resources": ["nodeprep"], "save": ["pull"], "load": ["torrent", "pull"]}
AFTER_ANY = {"torrent": ["save"]}
INNER = ["pull", "save", "torrent", "load"]
PLACES = 10


class Phase:
    def __init__(self, row):
        self.node, self.name, self.key = row["node"], row["phase"], row["key"]
        self.begin, self.end = row["begin_ns"], row["begin_ns"] + row["duration_ns"]


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [Phase(row) for row in rows
            if row["model"] == "cascade" and row["begin_ns"] is not None and row["end_ns"] is not None and row["duration_ns"] >= 0]


def outer_of(phases, one):
    if one.name not in INNER:
        return None
    around = [p for p in phases if p.node == one.node and p.name == "global-resources" and
              p.begin <= one.begin < p.end and one.end <= p.end]
    return max(around, key=lambda p: p.begin, default=None)


def holder_of(phases, one):
    """Who had the place that it got, in the order of begin; as many places as were had."""
    if one.name != "pull":
        return None
    pulls = sorted((p for p in phases if p.name == "pull" and p.key == one.key), key=lambda p: (p.begin, p.end))
    most = max(sum(q.begin <= p.begin < q.end for q in pulls) for p in pulls)
    held = []
    for number, pull in enumerate(pulls):
        before = heapq.heappop(held)[2] if len(held) >= max(PLACES, most) else None
        if pull is one:
            return before
        heapq.heappush(held, (pull.end, number, pull))
    return None


def could(phases, one):
    """From when on it could have begun, and why: (time, by, kind)."""
    begins = [p.begin for p in phases if p.node == one.node and p.name == "nodeprep" and p.begin <= one.begin]
    found = [(max(begins, default=one.begin), None, None)]
    for name in AFTER.get(one.name, []):
        ends = [p for p in phases if p.node == one.node and p.name == name and p is not one and p.end <= one.begin and
                (not one.key or p.key in ("", one.key))]
        found += [(p.end, p, "in") for p in ends]
    for name in AFTER_ANY.get(one.name, []):
        ends = [p for p in phases if p.name == name and p.key == one.key and p.end <= one.begin]
        found += [(p.end, p, "in") for p in ends if p.end == min(q.end for q in ends)]
    outer = outer_of(phases, one)
    if outer:
        found.append((outer.begin, outer, "outer"))
    holder = holder_of(phases, one)
    if holder:
        found.append((holder.end, holder, "place"))
    return max(found, key=lambda f: f[0])


def through(phases, one, kind, pieces):
    while True:
        inside = [p for p in phases if one.name == "global-resources" and p.node == one.node and outer_of(phases, p) is one]
        if not inside:
            break
        last = max(inside, key=lambda p: p.end)
        pieces.append((last.end, one.end, "end", one))
        one, kind = last, "in"
    pieces.append((one.begin, one.end, kind, one))
    return one


def main():
    phases = read(sys.argv[1])
    nodes = {}
    for phase in phases:
        if phase.name in ("nodeprep", "global-resources"):
            nodes.setdefault(phase.node, {}).setdefault(phase.name, phase)
    ready = {node: max(of.values(), key=lambda p: p.end) for node, of in nodes.items() if len(of) == 2}
    start = min(phase.begin for phase in phases if phase.name == "nodeprep")
    pieces = []
    one = through(phases, max(ready.values(), key=lambda p: p.end), "in", pieces)
    while True:
        at, by, kind = could(phases, one)
        pieces.append((at, one.begin, "wait", one))
        if by is None:
            break
        one = by if kind == "outer" else through(phases, by, kind, pieces)
    pieces.append((start, at, "began", one))
    for begin, end, kind, piece in reversed(pieces):
        if begin != end:
            print(begin - start, end - begin, kind, piece.node, "" if kind == "began" else "cascade:" + piece.name, sep=",")


main()
