#!/usr/bin/env python3
"""score - is the cause that `poolscope stats stragglers` names the true one?

    tests/judge/score.py planted [--pools N] [--seed S]     of poolscope generate
    tests/judge/score.py recorded [--only NAME...] [DIR]     of tests/judge/record.py
    tests/judge/score.py clean [--pools N]                  nothing is wrong

Each pool is put into a partition of a real aggregator, and the question is asked
as a user asks it.  The node and the cause of the first row are compared with the
truth.  A table says what was named for what; then come the figures.  With
--expect "right=95 each=90 wrong=2 disk=0 false=10" the exit status is 1 if fewer of
100 are right, or of any kind, more are wrong, more slow disks are called a network,
or more other nodes are named in 100 pools.

A recorded pool has clean recordings as peers, which begin one after another, and
one recording with a cause among them.  Its model has one place: as many as pulled
at once.  B=build/asan tests that variant.
SPDX-License-Identifier: MIT
"""
import argparse
import collections
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("B", ROOT + "/build") + "/bin/"
S = 10**9
BASE = 1795168800 * S  # 2026-11-20T10:00:00Z
LARGE = "gcr.io/ml/train:2.1"

# What the manual page calls it.
NAMES = {"clock": {"clock"}, "late": {"began"}, "places": {"place"}, "size": {"bytes"},
         "memory": {"memory"}, "steal": {"stolen"}, "cpu": {"cpu"}, "disk": {"disk"},
         "errors": {"errors"}, "network": {"data"},
         # The text of `data` says that it cannot be told from a hidden brake.
         "hidden": {"unknown", "data"}}
SAYS_NOTHING = {"unknown", "unmeasured", "", None}


class Instance:
    """An aggregator, and programs that talk to it."""

    def __init__(self, models):
        self.tmp = tempfile.TemporaryDirectory(prefix="judge.")
        self.dir = self.tmp.name + "/i"
        os.makedirs(self.dir + "/run")
        self.broker = "ipc://%s/run/aggregator.ipc" % self.dir
        ready, ours = os.pipe()
        self.log = open(self.tmp.name + "/log", "ab")
        self.aggregator = subprocess.Popen(
            [BIN + "poolscope-aggregator", "--dir", self.dir, "--listen", self.broker,
             "--models", models, "--ready-fd", str(ours)],
            pass_fds=[ours], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(ours)
        if os.read(ready, 1) == b"":
            sys.exit("the aggregator did not start: " + open(self.tmp.name + "/log").read())
        os.close(ready)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.aggregator.terminate()
        self.aggregator.wait()
        self.log.close()
        self.tmp.cleanup()

    def run(self, *words):
        done = subprocess.run([BIN + words[0], "--dir", self.dir, *words[1:]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode not in (0, 3, 4):
            sys.exit("%s: %s" % (" ".join(words), done.stderr.decode()))
        return done.stdout

    def put(self, path, partition):
        self.run("poolscope-import", "-q", "--broker", self.broker, "records", path)
        status = [sys.executable, ROOT + "/tests/flow/counters.py"]
        where = dict(os.environ, POOLSCOPE_DIR=self.dir, PATH=BIN + ":" + os.environ["PATH"])
        while True:
            counted = json.loads(subprocess.run(status, env=where, check=True,
                                                stdout=subprocess.PIPE).stdout)
            if counted["store"]["indexing_lag"] == 0:
                return
            time.sleep(0.05)

    def ask(self, partition, *options):
        answer = json.loads(self.run("poolscope-stats", "stragglers", "-p", partition,
                                     "--format", "json", *options))
        return answer["rows"]


# ---- what was said, and what is true ----

class Score:
    def __init__(self):
        self.said = collections.defaultdict(collections.Counter)
        self.false, self.pools, self.misses = 0, 0, []

    def add(self, kind, name, node, rows, waited=()):
        """`waited`: nodes that waited for places for long, which is true as well."""
        self.pools += 1
        first = rows[0] if rows else {}
        others = {row["node"] for row in rows} - {node} - {
            row["node"] for row in rows if row["node"] in waited and row["cause"] == "place"}
        self.false += len(others)
        if kind == "none":
            return
        said = first.get("cause") if first.get("node") == node else "not first"
        if node not in {row["node"] for row in rows}:
            said = "not found"
        self.said[kind][said] += 1
        if said not in NAMES[kind]:
            self.misses.append("%s: %s %s: %s" % (name, kind, node, [
                (row["node"], row["phase"], row["cause"], row["lost"]) for row in rows[:4]]))

    def figures(self):
        count = sum(sum(said.values()) for said in self.said.values()) or 1
        right = sum(said[name] for kind, said in self.said.items() for name in NAMES[kind])
        wrong = sum(number for kind, said in self.said.items() for name, number in said.items()
                    if name not in NAMES[kind] | SAYS_NOTHING | {"not first", "not found"})
        disks = sum(self.said["disk"].values())
        each = [100 * sum(said[name] for name in NAMES[kind]) / sum(said.values())
                for kind, said in self.said.items() if said]
        return {"each": min(each, default=100), "right": 100 * right / count, "wrong": 100 * wrong / count,
                "disk": 100 * (self.said["disk"]["data"] + self.said["disk"]["errors"]) /
                        (disks or 1), "false": 100 * self.false / (self.pools or 1),
                "counted": count}

    def show(self):
        figures = self.figures()
        columns = sorted({name for said in self.said.values() for name in said}, key=str)
        if columns:
            print("%-9s" % "true" + "".join("%11s" % name for name in columns) + "      right")
        for kind, said in sorted(self.said.items()):
            if said:
                right = sum(said[name] for name in NAMES[kind])
                print("%-9s" % kind + "".join("%11s" % (said[name] or "") for name in columns)
                      + "%6d of %d" % (right, sum(said.values())))
        for miss in self.misses:
            print("  " + miss)
        if columns:
            print("right and first: %(right).1f of 100; a wrong name: %(wrong).1f of 100; "
                  "a slow disk called network: %(disk).1f of 100 (%(counted)d in all)" % figures)
        print("other nodes that are named: %d in %d pools" % (self.false, self.pools))


# ---- planted ----

def rename(path, partition):
    with open(path, encoding="utf-8") as file:
        text = file.read().replace('"generated$pool"', json.dumps(partition))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def waits(path):
    """Nodes that waited for a place for 8 s and more, by their events."""
    loaded, begun = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if '"event"' not in line[:20]:
                continue
            row = json.loads(line)
            image = row["attributes"].get("img")
            if row["name"] == "load-end" and image != LARGE:
                loaded[row["node"]] = row["time_ns"]
            elif row["name"] == "pull-start" and image == LARGE:
                begun[row["node"]] = row["time_ns"]
    return {node for node in begun if begun[node] - loaded[node] > 8 * S}


def plant(instance, score, number, kind, seed, nodes):
    rng = random.Random("%d %d" % (seed, number))
    node, factor = rng.randint(1, nodes), rng.uniform(2.05, 2.9 if kind == "places" else 4)
    cause = "none" if kind == "none" else "%s:%d:%.2f" % (kind, node, factor)
    partition = "judge$%s-%d" % (kind, number)
    with tempfile.TemporaryDirectory(prefix="judge.") as folder:
        subprocess.run([BIN + "poolscope-generate", "pool", "-q", "--nodes", str(nodes), "--cause",
                        cause, "--seed", str(seed * 1000 + number), "--base", "2026-11-20T10:00:00Z",
                        "-o", folder], check=True)
        path = folder + "/records.jsonl"
        rename(path, partition)
        instance.put(path, partition)
        waited = waits(path)
    name = "cn%0*d" % (3 if nodes < 1000 else 5, node)
    score.add(kind, "%s, seed %d" % (cause, seed * 1000 + number), name,
              instance.ask(partition), waited)


def score_planted(options, score, kinds):
    with Instance(ROOT + "/deploy/models") as instance:
        for number in range(options.pools):
            plant(instance, score, number, kinds[number % len(kinds)], options.seed, options.nodes)


# ---- recorded ----

MODEL = """message = "kv"
phase "nodeprep" { start = "nodeprep:start" end = "nodeprep:end" measured = "diff" required = true }
phase "global-resources" { start = "cascade:start" end = "cascade:gr-done" measured = "diff"
	after = { "nodeprep" } end_after = { "pull", "load" } required = true }
phase "pull" { start = "cascade:pull-start" end = "cascade:pull-end" key = "img" places = 1
	bytes = "size" measured = "diff" }
phase "load" { start = "cascade:load-start" end = "cascade:load-end" key = "img"
	after = { "pull" } bytes = "size" measured = "diff" }
"""


class Recording:
    def __init__(self, folder, truth):
        self.name, self.kind, self.node = truth["name"], truth["kind"], truth["node"]
        self.others = truth["others"] or 0
        with lzma.open("%s/%s.jsonl.xz" % (folder, self.name), "rt", encoding="utf-8") as file:
            self.rows = [row for row in map(json.loads, file) if row["kind"] != "entity"]
        with open(folder + "/definitions.jsonl", encoding="utf-8") as file:
            self.definitions = [json.loads(line) for line in file]
        clocks = [row for row in self.rows if row.get("set") == "clock"]
        self.offset = clocks[0]["values"][0] if self.kind == "clock" and clocks else 0
        times = sorted(row["time_ns"] for row in self.rows if row["kind"] == "event"
                       and row["node"] == self.node)
        received = sorted(row["receive_ns"] for row in self.rows if row["kind"] == "event")
        self.begin = times[0]
        self.lasts = received[-1] - received[0]  # by the aggregator's clock

    def holder(self):
        """Who has the place is a node as the others are: it has begun, and is ready."""
        pulls = [row for row in self.rows if row["kind"] == "event" and row["node"] != self.node]
        for at, by, source, name in ((0, -3, "nodeprep", "start"), (0, -2, "nodeprep", "end"),
                                     (0, -1, "cascade", "start"), (1, 1, "cascade", "gr-done")):
            if pulls:
                yield {"kind": "event", "node": pulls[at]["node"], "source": source, "name": name,
                       "time_ns": pulls[at]["time_ns"] + by * S // 1000, "attributes": {}}

    def told(self, begin_ns, node, partition):
        """Its rows, as if the job of this node had begun then, by the true clock."""
        shift = begin_ns - self.begin - self.offset
        for row in self.definitions:
            yield dict(row, partition=partition, node=node)
        for row in (*self.rows, *self.holder()):
            row = dict(row, partition=partition, node=node if row["node"] == self.node
                       else node + "-holder")
            for name in ("session", "seq", "index", "receive_ns", "time"):
                row.pop(name, None)
            if row["kind"] == "event":
                row.pop("uuid", None)
            row["time_ns"] += shift
            if row.get("set") == "clock":
                row["values"] = [*row["values"][:6], row["values"][6] + shift]
            yield row


def replay(instance, score, recording, peers, seed):
    rng = random.Random("%s %d" % (recording.name, seed))
    order = list(peers)
    rng.shuffle(order)
    at = rng.randrange(len(order) // 4, len(order))
    if recording.kind != "clean":
        order.insert(at, recording)
    partition, begin, victim = "judge$" + recording.name, BASE, None
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for number, each in enumerate(order):
            node = "cn%03d" % (number + 1)
            victim = node if each is recording else victim
            for row in each.told(begin, node, partition):
                file.write(json.dumps(row) + "\n")
            begin += each.lasts + int(rng.uniform(0.3, 0.9) * S)
        file.flush()
        instance.put(file.name, partition)
    # Who held the place is not of interest: it pulled for as long as it was told.
    rows = [row for row in instance.ask(partition, "--least", "1s")
            if not row["node"].endswith("-holder")]
    score.add("none" if recording.kind == "clean" else recording.kind, recording.name, victim, rows)


def score_recorded(options, score):
    recordings = []
    for folder in options.folder or [ROOT + "/tests/judge/recorded"]:
        with open(folder + "/truth.jsonl", encoding="utf-8") as file:
            recordings += [Recording(folder, json.loads(line)) for line in file]
    clean = [each for each in recordings if each.kind == "clean"]
    wanted = [each for each in recordings if each.kind != "clean"
              and (not options.only or each.name in options.only)]
    disturbed = [each for each in wanted if each.others > options.others]
    if disturbed:
        print("%d recordings are left out: others used more than %.0f %% of the processors: %s" % (
            len(disturbed), 100 * options.others, " ".join(each.name for each in disturbed)))
        wanted = [each for each in wanted if each not in disturbed]
    with tempfile.TemporaryDirectory(prefix="judge.") as models:
        with open(models + "/judge.conf", "w", encoding="utf-8") as file:
            file.write(MODEL)
        with Instance(models) as instance:
            for each in wanted:
                replay(instance, score, each, clean, options.seed)
            if not options.only:
                replay(instance, score, clean[0], clean, options.seed)


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__)
    parser.add_argument("what", choices=("planted", "recorded", "clean"))
    parser.add_argument("folder", nargs="*")
    parser.add_argument("--pools", type=int, default=110)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--kinds", default=",".join(NAMES))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--others", type=float, default=0.25,
                        help="recorded: leave out where others used more of the processors")
    parser.add_argument("--expect", default="")
    options, score = parser.parse_args(), Score()
    if options.what == "recorded":
        score_recorded(options, score)
    else:
        score_planted(options, score, ["none"] if options.what == "clean"
                      else options.kinds.split(","))
    score.show()
    figures = score.figures()
    for word in options.expect.split():
        name, bound = word.split("=")
        good = figures[name] >= float(bound) if name in ("right", "each") else figures[name] <= float(bound)
        if not good:
            print("%s: %.1f, but %s was expected" % (name, figures[name], bound))
            sys.exit(1)


if __name__ == "__main__":
    main()
