"""An instance whose store and spools are copied, put back and lost, and the
judge of what is left.

The oracle, when every spool is empty: every accepted record is stored once, or its
batch is in a gap, by its number.  Each restore shows in one gap of each partition
whose count is unknown (since-backup); it stands for records of which no spool was
left.  Excused are only records of which the one spool that had them was replaced by
hand before a store had them.  What is stored twice was in two spools of which one
was copied while it ran, and the store was restored or the spool put back later.

SPDX-License-Identifier: MIT
"""
import json
import os
import shutil
import signal
import time

import lmdb

from pool import PARTITION, SLOW, Instance, Load, counted, earlier_are_sent, events, is_indexed, wait_until

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
        self.lineage = {}   # path of a backup -> restores that its store has seen
        self.empty = set()  # backups without the partition: they name no gap
        self.restores = 0   # the same of the store in use
        self.was_blank = False  # the store in use began with such a backup
        self.old = {}       # name -> older copy of its spool, numbers given until then
        self.excused = set()
        self.orphaned = set()  # stored once; no spool has it any more
        self.doubled = set()   # in a copy that was made while its agent ran
        self.clones = self.put_backs = 0

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
        """Until the spool has given up its oldest segment, which is acknowledged."""
        def oldest():
            return min(f for f in os.listdir(self.spool(name)) if f.endswith(".seg"))
        before = oldest()

        def gone():
            self.work(name, 20)
            self.drain(name)
            return oldest() > before
        wait_until(gone, 60, "acknowledged segments to go")

    # ---- the store ----

    def backup(self):
        self.backups += 1
        path = "%s/backup-%d" % (self.dir, self.backups)
        self.instance.run("poolscope-admin", "backup", path, "--log", "warn")
        self.lineage[path] = self.restores
        if not has_streams(path):
            self.empty.add(path)
        return path

    def restore(self, path, kill=signal.SIGKILL, gone=False):
        """Gone: its disk is, so that the restored store knows nothing of it.

        The judge reads the old store with `dump`, which shows only what is indexed:
        what was acknowledged a moment before the kill must be there too."""
        wait_until(lambda: is_indexed(self.instance), 60, "the index to be complete")
        self.instance.kill("aggregator", kill)
        self.asides += 1
        if gone:
            os.rename(self.dir + "/store", "%s/store.aside-%d" % (self.dir, self.asides))
        self.instance.run("poolscope-admin", "restore", path, "--set-aside", "--log", "warn")
        self.restores = self.lineage[path] + (path not in self.empty)
        self.was_blank = path in self.empty
        self.instance.start("aggregator")

    def settle(self):
        """No sender will bring anything any more: earlier sessions are sent to their
        ends, next to the current one, and the store hears nothing new, also of those
        whose numbers a copy has used before."""
        seen = []

        def is_quiet():
            self.drain()
            if not all(earlier_are_sent(self.instance, name) for name in self.agents):
                seen.clear()
                return False
            time.sleep(0.2 * SLOW)
            seen.append(self.counters("hellos", "gaps", "repeated"))
            return len(seen) > 2 and seen[-3] == seen[-1]
        wait_until(is_quiet, 120, "the store to hear nothing new")
        wait_until(lambda: is_indexed(self.instance), 60, "the index to be complete")

    def counters(self, *names):
        found = counted(self.instance, "aggregator", *names)
        return found if len(names) > 1 else [found]

    # ---- spools ----

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
        new = self.fresh(path)
        self.doubled |= known
        self.clones += 1
        return new

    def fresh(self, spool=None):
        """One more agent."""
        new = "agent%d" % (len(self.agents) + 1)
        if spool:
            os.rename(spool, self.spool(new))
        self.agents[new] = "%s/run/%s.sock" % (self.dir, new)
        self.instance.words[new] = ["poolscope-agent"]
        self.instance.options[new] = [
            "-p", PARTITION, "-n", "node-0", "--no-samples", "--no-clock", "--spool",
            self.spool(new), "--socket", self.agents[new], "--fallback", self.dir + "/fallback-" + new
        ] + SMALL + self.retain
        self.instance.start(new)
        return new

    def remember(self, name):
        if name in self.old:
            shutil.rmtree(self.old[name][0])
        self.old[name] = self.snapshot(name), set(self.load.accepted) | set(self.load.submitted)

    def put_back(self, name, drained, meanwhile=None):
        path, known = self.old.pop(name)
        if drained:
            self.drain(name)
        self.instance.kill(name)
        # What only this disk had, and the store has not, goes with it.
        stored = self.stored()
        self.excused |= set(self.load.accepted) - known - stored
        self.orphaned |= stored - known
        shutil.rmtree(self.spool(name))
        os.rename(path, self.spool(name))
        if meanwhile:
            meanwhile()
        self.instance.start(name)
        self.put_backs += 1

    def stored(self):
        rows = [r for r in events(self.instance) if "number" in r.get("attributes", {})]
        return {r["attributes"]["number"] for r in rows}

    def close(self):
        self.load.disconnect()
        self.instance.close()


def has_streams(store):
    env = lmdb.open(store + "/journal", readonly=True, lock=False, max_dbs=8, map_size=1 << 36)
    with env.begin(db=env.open_db(b"streams", create=False)) as txn:
        found = any(key[16:] == PARTITION.encode() for key, _ in txn.cursor())
    env.close()
    return found


def places(rows):
    """number -> the batches it stands in, and what it says."""
    found = {}
    for row in rows:
        if row["kind"] == "event" and "number" in row["attributes"]:
            found.setdefault(row["attributes"]["number"], []).append(
                ((row["session"], row["seq"]), row["attributes"]["payload"]))
    return found


def numbers_of_gaps(rows):
    """The batches that gaps name, and how many gaps name none."""
    reported, unknown = set(), 0
    for row in rows:
        if row["kind"] == "gap" and row["class"] == "batch":
            unknown += row["reason"] == "since-backup"
            reported |= {(row["session"], row["seq"] + i) for i in range(row["count"])}
    return reported, unknown


def judge(oracle, world, name):
    instance, load = world.instance, world.load
    instance.alive()
    rows = events(instance)
    stored, (reported, unknown) = places(rows), numbers_of_gaps(rows)
    filled = {(row["session"], row["seq"]) for row in rows if row["kind"] == "event"}
    known = {**load.submitted, **load.accepted}
    before = {}
    for i in range(1, world.asides + 1):
        done = instance.run("poolscope-dump", "-p", PARTITION, "--format", "jsonl",
                            "--store", "%s/store.aside-%d" % (instance.dir, i))
        for number, where in places(map(json.loads, done.stdout.splitlines())).items():
            before.setdefault(number, set()).update(batch for batch, _ in where)
    lost = [n for n in load.accepted if n not in stored]
    counted = [n for n in lost if before.get(n, set()) & reported]
    # Of a spool that is gone nobody knows, and a backup that does not have the
    # partition cannot name it; nor where a copy of a machine filled
    # the number (proto/delivery.md, Limits).
    silent = [n for n in lost if n not in counted and n not in world.excused and
              not (n in world.orphaned and (unknown or world.was_blank)) and
              not (world.clones and before.get(n, set()) & filled)]
    twice = [n for n, where in stored.items() if len(where) > 1 and
             not (n in world.doubled and (world.asides or world.put_backs))]
    wrong = [n for n, where in stored.items() if any(known.get(n) != p for _, p in where)]
    print("%s: %d accepted, %d stored, %d lost (%d of them counted by gaps of %d batches, "
          "%d excused), %d restored, %d clones, %d put back" %
          (name, len(load.accepted), len(stored), len(lost), len(counted), len(reported),
           len(world.excused), world.asides, world.clones, world.put_backs))
    oracle.check(not silent, name + ": nothing accepted is lost in silence", silent[:10])
    oracle.check(not reported & filled, name + ": what a gap counts as lost is not stored",
                 sorted(reported & filled)[:5])
    oracle.check(unknown == world.restores, name + ": each restore has one gap of unknown count",
                 (unknown, world.restores))
    oracle.check(not twice, name + ": nothing is stored twice", twice[:10])
    oracle.check(not wrong, name + ": everything is as it was sent", wrong[:10])
    return lost, reported


def gaps_of_status(instance):
    return counted(instance, "store", "records_gap")
