"""Stores restored from a backup, spools copied, put back and shared.

First what an operator does, step by step: a backup under load, a restoration
when the spools still have everything (nothing is lost) and when they do not
(what is lost is told).  Then SCHEDULES (default 6) random schedules, each of a
seed: agents work; the store is backed up, killed and restored; a spool is
copied and the copy started beside the original, as of a cloned machine; a
spool is put back to an older copy; agents are killed.

The oracle: every accepted record is kept, or its batch is in a gap that the
store shows when every spool is empty and the aggregator waits no longer for
what it is owed (--owed-wait).  Excused are only records of which the one spool
that had them was replaced by hand before a store had them.  What is kept twice
was in two spools.

SPDX-License-Identifier: MIT
"""
import json
import os
import random
import shutil
import signal
import sys

from pool import PARTITION, SLOW, Failed, Instance, Load, events, main, wait_until

SMALL = ["--segment-bytes", "64KiB", "--spool-bytes", "64MiB", "--free-bytes", "1MiB"]


class World:
    """An instance, its agents, the ledger, and the stores that were set aside."""

    def __init__(self, rng, retain):
        self.random = rng
        self.retain = ["--retain-bytes", retain]
        self.instance = Instance(agent_options=SMALL + self.retain)
        self.dir = self.instance.dir
        self.load = Load(self.instance, rng.getrandbits(32))
        self.agents = {"agent": self.dir + "/run/agent.sock"}
        self.instance.start()
        self.backups = self.asides = self.copies = 0
        self.old = {}       # name -> older copy of its spool, numbers given until then
        self.excused = set()
        self.doubled = set()
        self.forks = 0

    def spool(self, name):
        return "%s/%s" % (self.dir, "spool" if name == "agent" else "spool-" + name)

    # ---- work ----

    def work(self, name, puts):
        self.load.drop()
        self.load.path = self.agents[name]
        for _ in range(puts):
            self.load.put([self.load.record() for _ in range(self.random.randint(1, 8))])

    def emit(self, name, *words):
        return self.instance.run("poolscope-emit", "--socket", self.agents[name], "-p", PARTITION,
                                 "test", *words, check=False).returncode == 0

    def drain(self, *names):
        """All that these have accepted is kept."""
        for name in names or tuple(self.agents):
            wait_until(lambda n=name: self.emit(n, "fence", "--wait", "stored", "--timeout",
                                                "%ds" % (20 * SLOW)),
                       120, "the spool of %s to be empty" % name)

    def behind(self, name):
        """Returns a backup that lacks what was done since."""
        self.work(name, 60)
        self.drain()
        path = self.backup()
        self.work(name, 200)
        return path

    def forget(self, name):
        """Until the spool has given up what is acknowledged."""
        def gone():
            self.work(name, 5)
            self.drain(name)
            return len([f for f in os.listdir(self.spool(name)) if f.endswith(".seg")]) <= 2
        wait_until(gone, 60, "acknowledged segments to go")

    # ---- the store ----

    def backup(self):
        self.backups += 1
        path = "%s/backup-%d" % (self.dir, self.backups)
        self.instance.run("poolscope-aggregator", "--backup", path, "--log", "warn")
        return path

    def restore(self, path, kill=signal.SIGKILL, gone=False):
        """Gone: its disk is, so that the restored store knows nothing of it."""
        self.instance.kill("aggregator", kill)
        self.asides += 1
        if gone:
            os.rename(self.dir + "/store", "%s/store.aside-%d" % (self.dir, self.asides))
        self.instance.run("poolscope-aggregator", "--restore", path, "--set-aside", "--log", "warn")
        self.instance.start("aggregator")

    def settle(self):
        """Nobody will bring anything any more: what is owed still is told."""
        self.drain()
        self.instance.kill("aggregator", signal.SIGTERM)
        self.instance.options["aggregator"] += ["--owed-wait", "0s"]
        self.instance.start("aggregator")
        wait_until(lambda: self.counter("owed") == 0, 60, "nothing to be owed")
        self.drain()

    def counter(self, name):
        done = self.instance.run("poolscope-stats", "status", "--format", "json")
        return json.loads(done.stdout)["aggregator"][name]

    # ---- spools ----

    def asked(self, name, batches):
        """Until the agent knows how far the session was that it gave up."""
        path = self.spool(name) + "/FORMER"

        def known():
            with open(path, "rb") as file:
                return int.from_bytes(file.read(40)[32:40], "little")
        wait_until(lambda: known() >= batches, 60, "the session before to be asked for")

    def snapshot(self, name):
        """A copy of a spool as a hypervisor makes one."""
        self.copies += 1
        path = "%s/copy-%d" % (self.dir, self.copies)
        self.instance.signal(name, signal.SIGSTOP)
        shutil.copytree(self.spool(name), path)
        self.instance.signal(name, signal.SIGCONT)
        return path

    def clone(self, name):
        new = "agent%d" % (len(self.agents) + 1)
        os.rename(self.snapshot(name), self.spool(new))
        self.doubled |= set(self.load.accepted) | set(self.load.submitted)
        self.agents[new] = "%s/run/%s.sock" % (self.dir, new)
        self.instance.words[new] = ["poolscope-agent"]
        self.instance.options[new] = [
            "-p", PARTITION, "-n", "node-0", "--no-samples", "--no-clock", "--spool",
            self.spool(new), "--socket", self.agents[new], "--drop", self.dir + "/drop-" + new
        ] + SMALL + self.retain
        self.instance.start(new)
        self.forks += 1

    def remember(self, name):
        if name in self.old:
            shutil.rmtree(self.old[name][0])
        self.old[name] = self.snapshot(name), set(self.load.accepted) | set(self.load.submitted)
        self.doubled |= self.old[name][1]

    def put_back(self, name, drained, meanwhile=None):
        path, known = self.old.pop(name)
        if drained:
            self.drain(name)
        self.instance.kill(name)
        # What only this disk had, and the store has not, goes with it.
        self.excused |= set(self.load.accepted) - known - self.stored()
        shutil.rmtree(self.spool(name))
        os.rename(path, self.spool(name))
        if meanwhile:
            meanwhile()
        self.instance.start(name)
        self.forks += 1

    def stored(self):
        rows = [r for r in events(self.instance) if "number" in r.get("attributes", {})]
        return {r["attributes"]["number"] for r in rows}

    def close(self):
        self.load.drop()
        self.instance.close()


def places(rows):
    """number -> the batches it stands in, and what it says."""
    found = {}
    for row in rows:
        if row["kind"] == "event" and "number" in row["attributes"]:
            found.setdefault(row["attributes"]["number"], []).append(
                ((row["session"], row["seq"]), row["attributes"]["payload"]))
    return found


def numbers_of_gaps(rows):
    told = set()
    for row in rows:
        if row["kind"] == "gap" and row["class"] == "batch":
            told |= {(row["session"], row["seq"] + i) for i in range(row["count"])}
    return told


def judge(oracle, world, name):
    instance, load = world.instance, world.load
    instance.alive()
    rows = events(instance)
    kept, told = places(rows), numbers_of_gaps(rows)
    known = {**load.submitted, **load.accepted}
    before = {}
    for i in range(1, world.asides + 1):
        done = instance.run("poolscope-dump", "-p", PARTITION, "--format", "jsonl",
                            "--store", "%s/store.aside-%d" % (instance.dir, i))
        for number, where in places(map(json.loads, done.stdout.splitlines())).items():
            before.setdefault(number, set()).update(batch for batch, _ in where)
    lost = [n for n in load.accepted if n not in kept]
    # A session that was given up takes its gaps along under other numbers, and
    # what is owed to nobody is told under numbers of the store's own.
    silent = [n for n in lost if n not in world.excused and
              not (before.get(n, set()) & told or world.forks and n in before and told)]
    batches = {batch for n in lost if n not in world.excused for batch in before.get(n, ())}
    twice = [n for n, where in kept.items() if len(where) > 1 and n not in world.doubled]
    wrong = [n for n, where in kept.items() if any(known.get(n) != p for _, p in where)]
    print("%s: %d accepted, %d kept, %d lost and told (%d batches, %d in gaps), %d excused, "
          "%d restored, %d forks" %
          (name, len(load.accepted), len(kept), len(lost), len(batches), len(told),
           len(world.excused), world.asides, world.forks))
    oracle.check(not silent, name + ": nothing accepted is lost in silence", silent[:10])
    oracle.check(len(batches) <= len(told), name + ": gaps tell of every batch that is lost",
                 (len(batches), len(told)))
    oracle.check(not twice, name + ": nothing is kept twice that one spool had", twice[:10])
    oracle.check(not wrong, name + ": everything is as it was sent", wrong[:10])
    return lost, told


def gaps_of_status(instance):
    done = instance.run("poolscope-stats", "status", "--format", "json")
    return json.loads(done.stdout)["store"]["records_gap"]


# ---- step by step ----


def with_retention(oracle, rng):
    world = World(rng, "64MiB")
    instance = world.instance
    try:
        path = world.behind("agent")
        world.drain()
        refused = instance.run("poolscope-aggregator", "--restore", path, check=False)
        oracle.check(refused.returncode == 1 and b"--set-aside" in refused.stderr,
                     "a store that is there is refused", refused.stderr)
        refused = instance.run("poolscope-aggregator", "--restore", path, "--set-aside",
                               check=False)
        oracle.check(refused.returncode == 1 and b"in use by process" in refused.stderr,
                     "a store that is in use is not set aside", refused.stderr)
        world.restore(path)
        world.work("agent", 5)
        world.drain()
        lost, told = judge(oracle, world, "restored, the spool has everything")
        oracle.check(not lost and not told, "... so nothing is lost at all", (lost[:5], told))
        # Cut short at random, it is to be done again, and the store is good.
        instance.kill("aggregator", signal.SIGTERM)
        for _ in range(8):
            try:
                instance.run("timeout", "-s", "KILL", "%.3f" % rng.uniform(0.005, 0.12),
                             "poolscope-aggregator", "--dir", instance.dir, "--restore", path,
                             "--set-aside", check=False)
            except FileNotFoundError:
                raise Failed("no timeout(1)")
            instance.run("poolscope-aggregator", "--verify", "--log", "warn")
    finally:
        world.close()


def without_retention(oracle, rng):
    world = World(rng, "0")
    instance = world.instance
    try:
        path = world.behind("agent")
        world.forget("agent")
        world.restore(path)
        world.work("agent", 5)
        world.drain()
        lost, told = judge(oracle, world, "restored, the spool has forgotten")
        oracle.check(lost and told, "... so there is a gap", (len(lost), len(told)))
        oracle.check(gaps_of_status(instance) > 0, "... which status counts")
        copy = instance.dir + "/damaged"
        shutil.copytree(path, copy)
        with open(copy + "/tables/data.mdb", "r+b") as file:
            data = file.read()
            at = data.find(b"payload")
            file.seek(at + 1)
            file.write(bytes([data[at + 1] ^ 4]))
        instance.kill("aggregator", signal.SIGTERM)
        refused = instance.run("poolscope-aggregator", "--restore", copy, "--set-aside",
                               check=False)
        oracle.check(refused.returncode == 1 and b"wrong" in refused.stderr,
                     "a backup that is damaged is refused", refused.stderr[-300:])
        oracle.check(not os.path.exists(instance.dir + "/store.restoring"),
                     "... and leaves nothing behind")
        os.unlink(copy + "/manifest")
        refused = instance.run("poolscope-aggregator", "--restore", copy, "--set-aside",
                               check=False)
        oracle.check(refused.returncode == 1 and b"manifest" in refused.stderr,
                     "what is no backup is refused", refused.stderr)
    finally:
        world.close()


def shared_spool(oracle, rng):
    world = World(rng, "0")
    try:
        world.work("agent", 3)
        second = world.instance.run("poolscope-agent", "--no-samples", "--socket",
                                    world.dir + "/run/other.sock", check=False)
        oracle.check(second.returncode == 1 and b"process" in second.stderr,
                     "a second agent on one spool is refused by name", second.stderr)
        world.clone("agent")
        world.clone("agent")
        for name in world.agents:
            world.work(name, 40)
        world.drain()
        judge(oracle, world, "one machine cloned into three")
        sessions = {row["session"] for row in events(world.instance) if row["kind"] == "event"}
        oracle.check(len(sessions) >= 3, "... which go on as sessions of their own", sessions)
    finally:
        world.close()


def spool_and_store(oracle, rng, spoken, gone=False):
    """The spool goes back, and then, or before they have spoken, the store."""
    world = World(rng, "0")
    name = "a spool, then the store went back" if spoken else "both went back at once"
    name += ", the disk is gone" if gone else ""
    try:
        if gone:
            world.instance.options["agent"] += ["--owed-wait", "1s"]
            world.instance.kill("agent")
            world.instance.start("agent")
        world.work("agent", 20)
        world.remember("agent")
        world.work("agent", 20)
        world.drain()
        path = world.backup()
        world.work("agent", 80)
        if spoken:
            world.put_back("agent", True)
            world.work("agent", 10)
            world.drain()
            if gone:
                world.asked("agent", 120)
            world.restore(path, gone=gone)
        else:
            world.put_back("agent", True, lambda: world.restore(path))
        oracle.check(gone or world.counter("owed") > 0, name + ": it is known what is owed")
        world.work("agent", 200)
        if gone:
            wait_until(lambda: gaps_of_status(world.instance) > 0, 60, "the agent to tell")
        world.settle()
        lost, told = judge(oracle, world, name)
        oracle.check(lost and told, "... so there are gaps", (len(lost), len(told)))
        oracle.check(not world.excused, "... for everything", len(world.excused))
    finally:
        world.close()


# ---- schedules ----


def schedule(oracle, seed):
    rng = random.Random(seed)
    world = World(rng, rng.choice(("0", "64MiB")))
    backup = None
    rng.random()  # so that the known ones are what they were
    try:
        for _ in range(rng.randint(6, 14)):
            name = rng.choice(sorted(world.agents))
            world.work(name, rng.randint(1, 60))
            what = rng.randrange(8)
            if what == 0 or backup is None:
                backup = world.backup()
            elif what == 1:
                world.restore(backup, rng.choice((signal.SIGKILL, signal.SIGTERM)))
            elif what == 2 and len(world.agents) < 4:
                world.clone(name)
            elif what == 3:
                world.remember(name)
            elif what == 4 and name in world.old:
                world.put_back(name, rng.random() < 0.5)
            elif what == 5:
                world.instance.kill(name)
                world.instance.start(name)
            elif what == 6:
                world.drain(name)
            else:
                world.instance.kill("aggregator")
                world.instance.start("aggregator")
        world.settle()
        judge(oracle, world, "schedule %d" % seed)
    finally:
        world.close()


# Some that once lost records that nobody told of.
KNOWN = (1687825539, 130905682)


def test(oracle, seed):
    rng = random.Random(seed)
    if "SCHEDULE" in os.environ:
        schedule(oracle, int(os.environ["SCHEDULE"]))
        return
    with_retention(oracle, rng)
    without_retention(oracle, rng)
    shared_spool(oracle, rng)
    spool_and_store(oracle, rng, True)
    spool_and_store(oracle, rng, False)
    spool_and_store(oracle, rng, True, gone=True)
    count = int(os.environ.get("SCHEDULES", "6"))
    for number in (*KNOWN, *(rng.getrandbits(32) for _ in range(count - len(KNOWN)))):
        schedule(oracle, number)
        sys.stdout.flush()
        if oracle.failed:
            break


main(test)
