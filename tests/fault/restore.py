"""Stores restored from a backup, spools copied, put back and shared.

First what an operator does, step by step: a backup under load, a restoration
when the spools still have everything (nothing is lost) and when they do not
(what is lost is reported).  Then SCHEDULES (default 6) random schedules, each of a
seed: agents work; the store is backed up, killed and restored; a spool is
copied and the copy started next to the original, as of a cloned machine; a
spool is put back to an older copy; agents are killed.

SPDX-License-Identifier: MIT
"""
import os
import random
import shutil
import signal
import sys

from pool import Failed, events, main, wait_until
from restored_instance import World, gaps_of_status, judge


# ---- step by step ----


def with_retention(oracle, rng):
    world = World(rng, "64MiB")
    instance = world.instance
    try:
        path = world.behind("agent")
        world.drain()
        refused = instance.run("poolscope-admin", "restore", path, check=False)
        oracle.check(refused.returncode == 1 and b"--set-aside" in refused.stderr,
                     "a store that is there is refused", refused.stderr)
        refused = instance.run("poolscope-admin", "restore", path, "--set-aside",
                               check=False)
        oracle.check(refused.returncode == 1 and b"in use by process" in refused.stderr,
                     "a store that is in use is not set aside", refused.stderr)
        world.restore(path)
        world.work("agent", 5)
        world.drain()
        lost, reported = judge(oracle, world, "restored, the spool has everything")
        oracle.check(not lost and not reported, "... so nothing is lost at all", (lost[:5], reported))
        # Cut short at random, it is to be done again, and the store is good.
        instance.kill("aggregator", signal.SIGTERM)
        for _ in range(8):
            try:
                instance.run("timeout", "-s", "KILL", "%.3f" % rng.uniform(0.005, 0.12),
                             "poolscope-admin", "restore", path, "--dir", instance.dir,
                             "--set-aside", check=False)
            except FileNotFoundError:
                raise Failed("no timeout(1)")
            instance.run("poolscope-admin", "verify", "--log", "warn")
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
        lost, reported = judge(oracle, world, "restored, the spool has forgotten")
        oracle.check(lost and reported, "... so there is a gap", (len(lost), len(reported)))
        oracle.check(gaps_of_status(instance) > 0, "... which status counts")
        copy = instance.dir + "/damaged"
        shutil.copytree(path, copy)
        with open(copy + "/tables/data.mdb", "r+b") as file:
            data = file.read()
            at = data.find(b"payload")
            file.seek(at + 1)
            file.write(bytes([data[at + 1] ^ 4]))
        instance.kill("aggregator", signal.SIGTERM)
        refused = instance.run("poolscope-admin", "restore", copy, "--set-aside",
                               check=False)
        oracle.check(refused.returncode == 1 and (b"wrong" in refused.stderr or b"damaged" in refused.stderr),
                     "a backup that is damaged is refused", refused.stderr[-300:])
        oracle.check(not os.path.exists(instance.dir + "/store.restoring"),
                     "... and leaves nothing behind")
        os.unlink(copy + "/manifest")
        refused = instance.run("poolscope-admin", "restore", copy, "--set-aside",
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
            world.instance.options["agent"] += ["--restore-wait", "1s"]
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
        oracle.check(gone or world.counter("missing") > 0, name + ": it is known what is missing")
        world.work("agent", 200)
        if gone:
            wait_until(lambda: gaps_of_status(world.instance) > 0, 60, "the agent to report")
        world.settle()
        lost, reported = judge(oracle, world, name)
        oracle.check(lost and reported, "... so there are gaps", (len(lost), len(reported)))
        oracle.check(not world.excused, "... for everything", len(world.excused))
    finally:
        world.close()


def double_and_store(oracle, rng):
    """The store is lost, and a copy of the spool is there before the original:
    its batches stand under numbers that were acknowledged to that."""
    world = World(rng, "64MiB")
    try:
        world.work("agent", 5)
        world.drain()
        path = world.backup()
        copy, known = world.snapshot("agent"), set(world.load.accepted)
        world.work("agent", 20)
        world.drain()
        # Not killed: it remembers what was acknowledged.
        world.instance.kill("agent", signal.SIGTERM)
        world.restore(path, gone=True)
        double = world.double(copy, known)
        world.work(double, 22)
        world.drain(double)
        world.instance.start("agent")
        world.work("agent", 3)
        world.settle()
        lost, reported = judge(oracle, world, "a copy comes first to a store that lost all")
        oracle.check(not lost and not reported, "... so nothing is lost", (lost[:5], len(reported)))
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


# Some that once lost records without a report.
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
    double_and_store(oracle, rng)
    count = int(os.environ.get("SCHEDULES", "6"))
    for number in (*KNOWN, *(rng.getrandbits(32) for _ in range(count - len(KNOWN)))):
        schedule(oracle, number)
        sys.stdout.flush()
        if oracle.failed:
            break


main(test)
