"""timelines - random phases of nodes, and the bars that they make.

    timelines.py make SEED NODES      the events, as lines of records.py
    timelines.py cut SEED NODES       the segments, by what each moment belongs to
    timelines.py lanes SEED NODES     each phase and its lane
    timelines.py picture SEED NODES FORM PIXELS ROWS FROM TO
                                      what each pixel shows between two times in seconds (""
                                      where there is none); FORM is cut or lanes
    timelines.py area SEED NODES PIXELS FROM TO
                                      of each pixel the nodes in each phase, and in none

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


def hangs(last, items):
    """Is a phase of the node open where its last one ends?"""
    ends = list(with_ends(last, items))
    return any(is_open and end == max(each[1] for each in ends) for _, end, _, _, is_open in ends)


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


def axis(pool, pixels, begin, end):
    """The edges of the pixels, in nanoseconds."""
    every = [item for _, last, items in pool for item in with_ends(last, items)]
    first = max([min(item[0] for item in every)] + ([int(begin)] if begin else [])) * 10 ** 9
    last = min([max(item[1] for item in every)] + ([int(end)] if end else [])) * 10 ** 9
    return [first + (last - first) * p // pixels for p in range(pixels + 1)]


def overlap(segment, edge, next_edge):
    """None: the segment is not in the pixel."""
    begin, end = segment[0] * 10 ** 9, segment[1] * 10 ** 9
    if begin == end:
        return 0 if edge <= begin < next_edge else None
    return min(end, next_edge) - max(begin, edge) if begin < next_edge and end > edge else None


def shown(segments, edge, next_edge):
    """The phase of a pixel, how long it is in it, and which of its segments has most of it."""
    of = {}
    for segment in segments:
        ns = overlap(segment, edge, next_edge)
        if ns is not None:
            of.setdefault(segment[2], []).append((ns, segment))
    if not of:
        return None
    phase = max(of, key=lambda each: (sum(ns for ns, _ in of[each]), max(segment[0] for _, segment in of[each]), each))
    return phase, sum(ns for ns, _ in of[phase]), max(of[phase], key=lambda each: (each[0], each[1][0]))[1]


def bars_of(pool, form, rows, edges):
    """Lists of (node, segments): those of a row."""
    bars = []
    for node, last, items in pool:
        items = list(with_ends(last, items))
        segments = list(cut(items) if form == "cut" else lanes(items))
        if any(overlap(segment, edges[0], edges[-1]) is not None for segment in segments):
            bars.append((node, segments))
    if form == "lanes":
        return [[(node, [s for s in segments if s[5] == lane])] for node, segments in bars for lane in range(1 + max(s[5] for s in segments))]
    count = min(int(rows), len(bars))
    hanging = sum(1 for node, last, items in pool if node in dict(bars) and hangs(last, items))
    alone = min(hanging, count // 4) if count < len(bars) else 0
    rest, count = bars[alone:], count - alone
    return [[bar] for bar in bars[:alone]] + [rest[r * len(rest) // count:(r + 1) * len(rest) // count] for r in range(count)]


def picture(pool, form, pixels, rows, begin, end):
    edges = axis(pool, int(pixels), begin, end)
    for row, bars in enumerate(bars_of(pool, form, rows, edges)):
        for p, (edge, next_edge) in enumerate(zip(edges, edges[1:])):
            found = shown([segment for _, segments in bars for segment in segments], edge, next_edge)
            if found is None:
                continue
            phase, ns, segment = found
            if len(bars) == 1:
                print(row, p, PHASES[phase], segment[3])
            else:
                # Half up, in tenths of the time of all nodes.
                print(row, p, PHASES[phase], "%.1f" % (max(1, (20 * ns + len(bars) * (next_edge - edge)) // (2 * len(bars) * (next_edge - edge))) / 10))


def area(pool, pixels, begin, end):
    edges = axis(pool, int(pixels), begin, end)
    bars = [segments for bar in bars_of(pool, "cut", len(pool), edges) for _, segments in bar]
    for p, (edge, next_edge) in enumerate(zip(edges, edges[1:])):
        in_phase, begun = {}, 0
        for segments in bars:
            begun += max(0, next_edge - max(edge, min(s[0] for s in segments) * 10 ** 9))
            for segment in segments:
                in_phase[segment[2]] = in_phase.get(segment[2], 0) + (overlap(segment, edge, next_edge) or 0)
        for phase, name in [*enumerate(PHASES), (None, "-")]:
            ns = begun - sum(in_phase.values()) if phase is None else in_phase.get(phase, 0)
            if ns:
                print(p, name, "%.6g" % (ns / (next_edge - edge)))


def main(what, seed, nodes, *more):
    pool = list(made(int(seed), int(nodes)))
    if what == "make":
        for node, last, items in pool:
            for begin, end, phase, key in items:
                print("event %d %s s:%s k=%s" % (begin, node, PHASES[phase], key))
                if end is not None:
                    print("event %d %s s:%s-end k=%s" % (end, node, PHASES[phase], key))
            print("event %d %s s:note" % (last, node))
        return
    pool.sort(key=lambda of: (not hangs(*of[1:]), min(item[0] for item in of[2]), of[0]))
    if what in ("picture", "area"):
        (picture if what == "picture" else area)(pool, *more)
        return
    for node, last, items in pool:
        items = list(with_ends(last, items))
        for begin, end, phase, key, is_open, lane in cut(items) if what == "cut" else lanes(items):
            print(node, begin, end, PHASES[phase], key, "open" if is_open else "-", lane)


main(*sys.argv[1:])
