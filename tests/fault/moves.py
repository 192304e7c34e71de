"""A partition moves from store to store under load, and everybody is killed.

Two instances, each with an aggregator; one broker with a partition table, one
agent with a load.  In each round the partition is moved to the other store,
and mover, source, target, broker and agent are killed at random points; the
mover is run again until it ends well.  A second partition stays where it is.

After the rounds: every accepted record is there exactly once, in exactly one
store (the other holds no row of the partition at all, read with python3-lmdb),
and statistics equal a pass over the records.

MOVES (default 12) and SEED from the environment.
SPDX-License-Identifier: MIT
"""
import os
import random
import subprocess
import time

import lmdb

from kill import Stress
from pool import PARTITION, SLOW, Failed, Instance, Load, drain, main, wait_until

STAYS = "fault$stays"


class World:
    """Instances "a" and "b"; the agent and the broker are of "a"."""

    def __init__(self, rng):
        self.random = rng
        options = ["--sessions-per-hour", "0", "--compact-after", "1s", "--journal-keep", "1s"]
        self.a = Instance(aggregator_options=options, agent_options=["--segment-bytes", "256KiB"])
        self.b = Instance(aggregator_options=options)
        self.at = self.a
        self.kills = dict.fromkeys(("mover", "source", "target", "broker", "agent"), 0)
        self.resumed = 0

    def other(self):
        return self.b if self.at is self.a else self.a

    def start(self):
        self.a.start()
        self.b.start("aggregator")

    def move(self):
        """The process that moves the partition to the other store."""
        other = self.other()
        log = open(self.a.dir + "/log/move.log", "ab")
        process = subprocess.Popen(
            ["poolscope-partitions", "move", PARTITION, "--store", self.at.dir + "/store",
             "--target", other.dir + "/store", "--endpoint", "ipc://%s/run/intake.ipc" % other.dir,
             "--table", self.a.dir + "/partitions", "--dir", self.a.dir],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        return process

    def victim(self):
        return self.random.choice((
            ("source", self.at, "aggregator"), ("target", self.other(), "aggregator"),
            ("broker", self.a, "broker"), ("agent", self.a, "agent")))

    def kill_somebody(self):
        name, instance, program = self.victim()
        instance.kill(program)
        self.kills[name] += 1
        time.sleep(self.random.uniform(0, 0.02))
        instance.start(program)

    def round(self):
        mover = self.move()
        attempts = 1
        until = time.monotonic() + 120 * SLOW
        while True:
            time.sleep(self.random.choice((0.002, 0.01, 0.04)) * self.random.random())
            choice = self.random.random()
            if choice < 0.4 and attempts < 6:
                mover.kill()
                self.kills["mover"] += mover.wait() < 0
                mover = self.move()
                attempts += 1
            elif choice < 0.6 and attempts < 6:
                self.kill_somebody()
            if mover.poll() is None:
                if time.monotonic() > until:
                    raise Failed("a move does not end: %s" % self.a.tail("move"))
                if attempts >= 6:
                    time.sleep(0.01)
                continue
            if mover.returncode != 0:
                raise Failed("a move ended with %d: %s" %
                             (mover.returncode, self.a.tail("move")))
            break
        self.resumed += attempts > 1
        self.at = self.other()

    def alive(self):
        self.a.alive()
        self.b.alive()

    def close(self):
        self.a.close()
        self.b.close()


class Stored(Instance):
    """The oracle's view: an instance that is asked, and not started."""

    def __init__(self, world):  # pylint: disable=super-init-not-called
        self.world = world
        self.dir = world.at.dir

    def alive(self):
        self.world.alive()


def rows_of(store, partition):
    """How many rows a store's tables have of a partition, by table, and what
    the rows of heads and chunks of nobody are."""
    rows = {}
    with lmdb.open(store + "/tables", readonly=True, max_dbs=16) as env:
        tables = {name: env.open_db(name, create=False) for name in
                  (b"names", b"heads", b"chunks", b"entities", b"tier_10s", b"tier_1min",
                   b"tier_10min", b"phases", b"stats", b"runs", b"groups", b"once")}
        with env.begin() as txn:
            number = txn.get(b"t\0\0\0\0" + partition.encode(), db=tables[b"names"])
            known = {value[:4] for key, value in txn.cursor(tables[b"names"])
                     if key[:5] == b"t\0\0\0\0"}
            for name, table in tables.items():
                if name == b"names":
                    continue
                for key, _ in txn.cursor(table):
                    mine = number is not None and key[:4] == number[:4]
                    kind = "nobody's" if key[:4] not in known else "mine" if mine else "others'"
                    rows[kind] = rows.get(kind, 0) + 1
    return rows


def derived(world):
    """Indexing is complete at the aggregator that has it."""
    done = world.at.run("poolscope-stats", "status", "--format", "json")
    return b'"rebuilding": 0' in done.stdout or b'"rebuilding":0' in done.stdout


def judge(oracle, world, load, stays, name):
    drain(world.a)
    drain(world.a, partition=STAYS)
    wait_until(lambda: derived(world), 60, "phases to be derived")
    oracle.judge(Stored(world), load, name)
    oracle.judge(world.a, stays, name + ", the partition that stays")
    here = rows_of(world.at.dir + "/store", PARTITION)
    there = rows_of(world.other().dir + "/store", PARTITION)
    oracle.check("mine" not in there and "nobody's" not in there,
                 name + ": the other store has not one row of it", there)
    oracle.check(here.get("mine", 0) > 0 and "nobody's" not in here,
                 name + ": no attempt has left rows behind", here)
    done = world.other().run("poolscope-dump", "-p", PARTITION, check=False)
    oracle.check(done.returncode == 1 and b"another aggregator stores this" in done.stderr,
                 name + ": the other aggregator says that it is not here", done.stderr)
    for instance in (world.a, world.b):
        done = instance.run("poolscope-admin", "verify", check=False)
        oracle.check(done.returncode == 0, name + ": verify finds nothing", done.stderr[-800:])


def refusals(oracle, world):
    """What would mix two partitions is refused, and changes nothing."""
    load = Load(world.a, 1, "fault$twice")
    load.put([load.record()])
    drain(world.a, partition="fault$twice")
    b = "ipc://%s/run/intake.ipc" % world.b.dir
    world.b.options["broker"] = ["--aggregator", b]
    world.b.options["agent"] += ["-p", "fault$twice"]
    world.b.start("broker", "agent")
    drain(world.b, partition="fault$twice")

    def move(partition, *more):
        return world.a.run("poolscope-partitions", "move", partition, "--target",
                           world.b.dir + "/store", *more, check=False)
    done = move("fault$twice")
    oracle.check(done.returncode == 1 and b"do not come from this move" in done.stderr,
                 "a store that has other records of it is refused", done.stderr)
    done = move("fault$nothing")
    oracle.check(done.returncode == 1 and b"has no records of this partition" in done.stderr,
                 "what is not there cannot be moved", done.stderr)
    done = move("fault$twice", "--cancel")
    oracle.check(done.returncode == 1 and b"no move to" in done.stderr,
                 "what has not begun cannot be cancelled", done.stderr)
    load.put([load.record()])
    drain(world.a, partition="fault$twice")
    oracle.judge(world.a, load, "a refused move leaves the partition as it was")


def test(oracle, seed):
    rounds = int(os.environ.get("MOVES", "12"))
    rng = random.Random(seed)
    world = World(rng)
    try:
        world.start()
        load = Load(world.a, rng.getrandbits(32))
        stays = Load(world.a, rng.getrandbits(32), STAYS)
        stress, other = Stress(load), Stress(stays)
        drain(world.a)
        for _ in range(rounds):
            time.sleep(rng.uniform(0, 0.3))
            world.round()
        stress.end()
        other.end()
        judge(oracle, world, load, stays, "after %d moves" % rounds)
        print("%d moves, %d of them in several attempts; killed: %s" %
              (rounds, world.resumed, world.kills))
        oracle.check(len(load.accepted) > 20 * rounds, "the load was a load", len(load.accepted))
        refusals(oracle, world)
    finally:
        world.close()


main(test)
