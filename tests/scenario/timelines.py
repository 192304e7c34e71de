"""timelines - random phases of nodes, and the bars that they make.

    timelines.py make SEED NODES      the events, as lines of records.py
    timelines.py cut SEED NODES       the segments, by what each moment belongs to
    timelines.py lanes SEED NODES     each phase and its lane

A segment is "node begin end phase key open lane", in seconds.  Every moment is looked at by
itself, between all begins and ends of its node; the programs sweep once, with a stack.
SPDX-License-Identifier: MIT
"""
import random
import sys

PHASES = ("p0", "p1", "p2", "p3")  # p0 is required: with it a node begins
PER_NODE = 14


def made(seed, nodes):
    """node: (last record, [(begin, end or None, phase, key)])"""
    rng = random.Random(seed)
    for number in range(nodes):
        taken, items = set(), []
        for key in range(PER_NODE):
            phase, begin = rng.randrange(len(PHASES)), rng.randrange(40)
            if (phase, begin) in taken:
                continue  # of two that are alike nobody can say which one it is
            taken.add((phase, begin))
            items.append((begin, None if rng.random() < 0.25 else begin + rng.choice((0, 1, 2, 5, 11, 30)), phase, "k%d" % key))
        yield "n%03d" % number, max(max(begin, end or 0) for begin, end, _, _ in items) + rng.randrange(3), items


def with_ends(last, items):
    """An end for each: the last record, or that the node begins again."""
    begins = [begin for begin, _, phase, _ in items if phase == 0]
    for begin, end, phase, key in items:
        yield (begin, end if end is not None else min([last] + [at for at in begins if at > begin]), phase, key, end is None)


def cut(items):
    moments = sorted({at for begin, end, *_ in items for at in (begin, end)})
    bar = []
    for begin, end in zip(moments, moments[1:]):
        running = [item for item in items if item[0] <= begin and item[1] >= end]
        if not running:
            continue
        of = max(running, key=lambda item: (item[0], -item[1], item[2]))
        if bar and bar[-1][2] is of and bar[-1][1] == begin:
            bar[-1][1] = end
        else:
            bar.append([begin, end, of])
    return [(begin, end, of[2], of[3], of[4] and end == of[1], "") for begin, end, of in bar]


def lanes(items):
    free = []
    for begin, end, phase, key, is_open in sorted(items, key=lambda item: (item[0], -item[1], item[2])):
        lane = next((i for i, until in enumerate(free) if until <= begin), len(free))
        free[lane:lane + 1] = [end]
        yield begin, end, phase, key, is_open, lane


def main(what, seed, nodes):
    pool = list(made(int(seed), int(nodes)))
    if what == "make":
        for node, last, items in pool:
            for begin, end, phase, key in items:
                print("event %d %s s:%s k=%s" % (begin, node, PHASES[phase], key))
                if end is not None:
                    print("event %d %s s:%s-end k=%s" % (end, node, PHASES[phase], key))
            print("event %d %s s:note" % (last, node))
        return
    pool.sort(key=lambda of: (min(item[0] for item in of[2]), of[0]))
    for node, last, items in pool:
        items = list(with_ends(last, items))
        for begin, end, phase, key, is_open, lane in cut(items) if what == "cut" else lanes(items):
            print(node, begin, end, PHASES[phase], key, "open" if is_open else "-", lane)


main(*sys.argv[1:])
