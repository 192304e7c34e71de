"""An instance whose store and spools are copied, put back and lost, and the
judge of what is left.

The oracle: every accepted record is stored, or its batch is in a gap that the
store shows when every spool is empty and the aggregator waits no longer for
what is missing (--restore-wait).  Excused are only records of which the one spool
that had them was replaced by hand before a store had them.  What is stored twice
was in two spools.

SPDX-License-Identifier: MIT
"""
import json
import os
import shutil
import signal

from pool import PARTITION, SLOW, Instance, Load, events, wait_until

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
        self.load.disconnect()
        self.load.path = self.agents[name]
        for _ in range(puts):
            self.load.put([self.load.record() for _ in range(self.random.randint(1, 8))])

    def emit(self, name, *words):
        return self.instance.run("poolscope-emit", "--socket", self.agents[name], "-p", PARTITION,
                                 "test", *words, check=False).returncode == 0

    def drain(self, *names):
        """All that these have accepted is stored."""
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
        self.instance.run("poolscope-admin", "backup", path, "--log", "warn")
        return path

    def restore(self, path, kill=signal.SIGKILL, gone=False):
        """Gone: its disk is, so that the restored store knows nothing of it."""
        self.instance.kill("aggregator", kill)
        self.asides += 1
        if gone:
            os.rename(self.dir + "/store", "%s/store.aside-%d" % (self.dir, self.asides))
        self.instance.run("poolscope-admin", "restore", path, "--set-aside", "--log", "warn")
        self.instance.start("aggregator")

    def settle(self):
        """No sender will bring anything any more: what is still missing is reported."""
        self.drain()
        self.instance.kill("aggregator", signal.SIGTERM)
        self.instance.options["aggregator"] += ["--restore-wait", "0s"]
        self.instance.start("aggregator")
        wait_until(lambda: self.counter("missing") == 0, 60, "nothing to be missing")
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
        return self.double(self.snapshot(name), set(self.load.accepted) | set(self.load.submitted))

    def double(self, path, known):
        """A copy of a spool, with what it knows, goes on as an agent of its own."""
        new = "agent%d" % (len(self.agents) + 1)
        os.rename(path, self.spool(new))
        self.doubled |= known
        self.agents[new] = "%s/run/%s.sock" % (self.dir, new)
        self.instance.words[new] = ["poolscope-agent"]
        self.instance.options[new] = [
            "-p", PARTITION, "-n", "node-0", "--no-samples", "--no-clock", "--spool",
            self.spool(new), "--socket", self.agents[new], "--fallback", self.dir + "/fallback-" + new
        ] + SMALL + self.retain
        self.instance.start(new)
        self.forks += 1
        return new

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
        self.load.disconnect()
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
    reported = set()
    for row in rows:
        if row["kind"] == "gap" and row["class"] == "batch":
            reported |= {(row["session"], row["seq"] + i) for i in range(row["count"])}
    return reported


def judge(oracle, world, name):
    instance, load = world.instance, world.load
    instance.alive()
    rows = events(instance)
    stored, reported = places(rows), numbers_of_gaps(rows)
    known = {**load.submitted, **load.accepted}
    before = {}
    for i in range(1, world.asides + 1):
        done = instance.run("poolscope-dump", "-p", PARTITION, "--format", "jsonl",
                            "--store", "%s/store.aside-%d" % (instance.dir, i))
        for number, where in places(map(json.loads, done.stdout.splitlines())).items():
            before.setdefault(number, set()).update(batch for batch, _ in where)
    lost = [n for n in load.accepted if n not in stored]
    # A session that was given up takes its gaps along under other numbers, and
    # what no sender brings is reported under numbers of the store's own.
    silent = [n for n in lost if n not in world.excused and
              not (before.get(n, set()) & reported or world.forks and n in before and reported)]
    batches = {batch for n in lost if n not in world.excused for batch in before.get(n, ())}
    twice = [n for n, where in stored.items() if len(where) > 1 and n not in world.doubled]
    wrong = [n for n, where in stored.items() if any(known.get(n) != p for _, p in where)]
    print("%s: %d accepted, %d stored, %d lost and reported (%d batches, %d in gaps), %d excused, "
          "%d restored, %d forks" %
          (name, len(load.accepted), len(stored), len(lost), len(batches), len(reported),
           len(world.excused), world.asides, world.forks))
    oracle.check(not silent, name + ": nothing accepted is lost in silence", silent[:10])
    oracle.check(len(batches) <= len(reported), name + ": gaps report every batch that is lost",
                 (len(batches), len(reported)))
    oracle.check(not twice, name + ": nothing is stored twice that one spool had", twice[:10])
    oracle.check(not wrong, name + ": everything is as it was sent", wrong[:10])
    return lost, reported


def gaps_of_status(instance):
    done = instance.run("poolscope-stats", "status", "--format", "json")
    return json.loads(done.stdout)["store"]["records_gap"]
