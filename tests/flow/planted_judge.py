"""planted_judge - does a generated pool show what was planted, and only that?

    planted_judge.py DIR KIND NODE FACTOR

DIR has the records.jsonl of `poolscope generate pool --cause`.  What a counter
must show follows from the manual page by hand: the pull of the large image,
4.2 GB, takes 22 s within 7 percent, of which the processors work 10 s and the
disk 5.5 s, and its load 7 s and 5 s.  A cause takes what remains of the goal.
SPDX-License-Identifier: MIT
"""
import collections
import json
import statistics
import sys

LARGE = "gcr.io/ml/train:2.1"
PLACES, PROCESSORS = 10, 4


class Pool:
    def __init__(self, path):
        self.events, self.samples = collections.defaultdict(dict), collections.defaultdict(list)
        columns = {}
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                if row["kind"] == "entity":
                    columns[row["node"], row["id"]] = row["properties"]["names"].split()
                elif row["kind"] == "event":
                    key = row["name"], row["attributes"].get("img", row["source"])
                    self.events[row["node"]][key] = row
                else:
                    values = dict(zip(columns[row["node"], row["set"]], row["values"]))
                    self.samples[row["node"], row["set"]].append((row["time_ns"], values))

    def took(self, node, name, key):
        return float(self.events[node][name, key]["attributes"]["diff"])

    def grows(self, node, group, metric, begin, end):
        """A second, between the first and the last sample in between."""
        inside = [(t, v[metric]) for t, v in self.samples[node, group] if begin <= t <= end]
        assert all(a[1] <= b[1] for a, b in zip(inside, inside[1:])), (node, metric)
        return (inside[-1][1] - inside[0][1]) / ((inside[-1][0] - inside[0][0]) / 1e9)

    def window(self, node, phase):
        return tuple(self.events[node]["%s-%s" % (phase, end), LARGE]["time_ns"]
                     for end in ("start", "end"))


# Of a pull that takes 22 s and F times as long, the share that each shows;
# a node without a cause has F = 1.
def shares(kind, factor):
    whole = 22.0 * (1 if kind in ("none", "late", "places", "hidden") else factor)
    return {
        "pressure.io": {"disk": .95 * (whole - 10) / whole, "size": .95 * 5.5 / 22,
                        "memory": (.95 * 5.5 + .75 * (whole - 15.5)) / whole,
                        "clock": .95 * 5.5 / 22}.get(kind, .95 * 5.5 / whole),
        "pressure.memory": .95 * (whole - 15.5) / whole if kind == "memory" else 0,
        "pressure.cpu": .94 if kind == "cpu" else .02,
        "steal": (whole - 15.5) / whole if kind == "steal" else 0,
        "errors": 4.2e9 / 1400 / 50 / whole if kind == "errors" else 0,
        "rate": 4.2e9 * 1.03 / (22 if kind in ("size", "clock") else whole),
    }


def measured(pool, node):
    begin, end = pool.window(node, "pull")
    of = lambda group, metric, unit: pool.grows(node, group, metric, begin, end) / unit
    return {
        "pressure.io": of("pressure", "system.linux.pressure.io.some", 1e6),
        "pressure.memory": of("pressure", "system.linux.pressure.memory.some", 1e6),
        "pressure.cpu": of("pressure", "system.linux.pressure.cpu.some", 1e6),
        "steal": of("cpu", "system.cpu.time.steal", 100 * PROCESSORS),
        "errors": of("network/eth0", "system.network.errors.receive", 1),
        "rate": of("network/eth0", "system.network.io.receive", 1),
    }


def is_near(wanted, got, tolerance):
    return abs(wanted - got) <= tolerance + .16 * abs(wanted)


def check_counters(pool, slow, kind, factor):
    tolerance = {"errors": 1, "rate": 1e6}
    for node in pool.events:
        wanted = shares(*((kind, factor) if node == slow else ("none", 1)))
        got = measured(pool, node)
        if node == slow and kind == "clock":
            got.pop("rate")  # of a window that has a hole
            got = {name: got[name] for name in ("errors", "steal", "pressure.memory")}
        for name, value in got.items():
            assert is_near(wanted[name], value, tolerance.get(name, .05)), \
                (node, name, wanted[name], value)


def check_places(pool):
    """Never more of the pulls of an image at once than it has places."""
    for image in {key for events in pool.events.values() for name, key in events
                  if name == "pull-start"}:
        changes = []
        for node, events in pool.events.items():
            offset = pool.samples[node, "clock"][0][1]["poolscope.clock.offset"]
            begin = events["pull-start", image]["time_ns"] + offset
            length = pool.took(node, "pull-end", image)
            size = pool.samples[node, "clock"][-1][1]["poolscope.clock.offset"] - offset
            changes += [(begin, 1), (begin + int(length * 1e9) + size, -1)]
        held = most = 0
        for _, change in sorted(changes):
            held += change
            most = max(most, held)
        assert most <= PLACES, (image, most)


def check_waiting(pool, slow, factor):
    """All places are held when the node asks, but for a second after each end."""
    asked = pool.events[slow]["load-end", "docker.io/library/ubuntu:22.04"]["time_ns"]
    got = pool.events[slow]["pull-start", LARGE]["time_ns"]
    assert 40 * (factor - 1) <= (got - asked) / 1e9 <= 40 * (factor - 1) + 15, got - asked
    full = 0
    for k in range(100):
        at = asked + (got - asked) * k // 100
        held = sum(begin <= at < end for begin, end in
                   (pool.window(node, "pull") for node in pool.events if node != slow))
        full += held == PLACES
    assert full >= 75, full


def check_clock(pool, slow, factor):
    begin, end = pool.window(slow, "pull")
    size = (end - begin) / 1e9 * (factor - 1) / factor
    reports = [(v["poolscope.clock.generation"], v["poolscope.clock.offset"] / 1e9)
               for t, v in pool.samples[slow, "clock"]]
    generations = sorted({generation for generation, _ in reports})
    assert len(generations) == 2 and generations[1] == generations[0] + 1, generations
    assert abs(reports[0][1]) <= .05 and abs(reports[0][1] - reports[-1][1] - size) < .001, reports


def main():
    pool, kind, slow = Pool(sys.argv[1] + "/records.jsonl"), sys.argv[2], "cn%03d" % int(sys.argv[3])
    factor = float(sys.argv[4])
    pulls = {node: pool.took(node, "pull-end", LARGE) for node in pool.events}
    loads = {node: pool.took(node, "load-end", LARGE) for node in pool.events}
    assert len(pulls) == 60
    slows_pull = kind not in ("none", "late", "places", "hidden")
    for node, took in pulls.items():
        assert is_near(22 * (factor if node == slow and slows_pull else 1), took, -1.9), (node, took)
    assert is_near(22, statistics.median(pulls.values()), -3)
    for node, took in loads.items():
        if node != slow or kind in ("none", "late", "places", "network", "errors", "clock"):
            assert is_near(12, took, -.9), (node, took)
        elif kind in ("hidden", "size"):
            assert is_near(12 * factor, took, -.9), (node, took)
        else:
            assert took > 20, (node, took)
    if kind == "size":
        size = int(pool.events[slow]["pull-end", LARGE]["attributes"]["size"])
        assert size == 4200000000 * factor, size
    begins = sorted((events["start", "nodeprep"]["time_ns"], node) for node, events in pool.events.items())
    assert (begins[-1][1] == slow and begins[-1][0] - begins[-2][0] > factor * 60e9) == (kind == "late")
    check_counters(pool, slow, kind, factor)
    check_places(pool)
    if kind == "places":
        check_waiting(pool, slow, factor)
    if kind == "clock":
        check_clock(pool, slow, factor)


main()
