"""Stores restored from a backup, spools copied, put back and shared.

First what an operator does, step by step: a backup under load, a restoration
when the spools still have everything (nothing is lost) and when they do not
(what is lost is reported).  Then SCHEDULES (default 6 / SHARE) random schedules, each of a
seed: agents work; the store is backed up, killed and restored; a spool is
copied and the copy started next to the original, as of a cloned machine; a
spool is put back to an older copy; agents are killed.

SPDX-License-Identifier: MIT
"""
import json
import os
import random
import shutil
import signal
import sys

import msgpack

from pool import PARTITION, Failed, events, frame, main
from restored_instance import World, gaps_of_status, judge

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../flow"))
import peer  # noqa: E402


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
        world.settle()
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
        world.settle()
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
        world.settle()
        judge(oracle, world, "one machine cloned into three")
        sessions = {row["session"] for row in events(world.instance) if row["kind"] == "event"}
        oracle.check(len(sessions) >= 3, "... which go on as sessions of their own", sessions)
    finally:
        world.close()


def copied_instance(oracle, rng):
    """The directory of a running agent is copied and used by a second one: what
    both have is sent twice under the same numbers."""
    world = World(rng, "64MiB")
    instance = world.instance
    try:
        world.work("agent", 20)
        instance.signal("aggregator", signal.SIGSTOP)
        world.work("agent", 20)
        copy = world.snapshot("agent")
        known = set(world.load.accepted)
        instance.signal("aggregator", signal.SIGCONT)
        double = world.double(copy, known)
        for _ in range(5):
            for name in ("agent", double):
                world.work(name, 20)
        world.settle()
        lost, reported = judge(oracle, world, "a copy of a running agent")
        oracle.check(not lost and not reported, "... nothing is lost", (lost[:5], len(reported)))
        for name in ("agent", double):
            warnings = [line for line in log_of(world, name) if "warn" in line or "error" in line]
            oracle.check(not warnings, "... and %s has nothing to say" % name, warnings)
    finally:
        world.close()


def copied_memory(oracle, rng):
    """A machine was copied while it ran, and the copy, which is played here, was
    faster: the batches of the agent go on under another session, each once."""
    world = World(rng, "64MiB")
    instance = world.instance
    name = "a copy of a running machine was faster"
    try:
        world.work("agent", 20)
        world.drain()
        instance.signal("agent", signal.SIGSTOP)
        listing = instance.run("poolscope-spool", "ls", world.spool("agent"), "--format", "json")
        stream, = json.loads(listing.stdout)["streams"]
        copy = Copy("ipc://%s/run/broker.ipc" % instance.dir, stream["session"])
        for _ in range(3):
            copy.send()
        instance.signal("agent", signal.SIGCONT)
        world.work("agent", 100)
        world.settle()
        lost, reported = judge(oracle, world, name)
        oracle.check(not lost and not reported, "... nothing is lost", (lost[:5], len(reported)))
        rows = [row for row in events(instance) if row["kind"] == "event"]
        mine = [row for row in rows if row["name"] == "by-the-copy"]
        oracle.check(len(mine) == 3, "... neither of the copy", len(mine))
        sessions = {row["session"] for row in rows if "number" in row["attributes"]}
        oracle.check(len(sessions) == 2, "... the agent has two sessions", sessions)
        one_sentence(oracle, world, "agent", "copied while its agent ran", 1)
        instance.kill("agent")
        instance.start("agent")
        world.work("agent", 20)
        world.settle()
        judge(oracle, world, name + ", then the agent was killed")
    finally:
        world.close()


class Copy:
    """Sends batches under the session of an agent, from where the store has it."""

    def __init__(self, endpoint, session):
        self.socket, self.session = peer.agent(endpoint), bytes.fromhex(session)
        welcome = self.ask(peer.HELLO, 1, 0)
        self.seq, self.chain = welcome.expect, welcome.chain

    def ask(self, kind, seq, chain, body=b"", records=0):
        self.socket.send(frame(kind, [PARTITION, "node-0", self.session, seq, records, 0, 1,
                                      len(body), chain], body))
        return peer.recv_answer(self.socket)

    def send(self):
        body = msgpack.packb([1, 10**18, "test", "by-the-copy", {"n": self.seq}, None])
        answer = self.ask(peer.BATCH, self.seq, self.chain, body, 1)
        if answer.type != peer.ACK:
            raise Failed("the copy got an answer of type %d" % answer.type)
        self.seq, self.chain = self.seq + 1, peer.running_hash(self.chain, body, 1)


def older_spool(oracle, rng):
    """A disk is put back from a backup: what it sends again is recognized."""
    world = World(rng, "64MiB")
    try:
        world.work("agent", 40)
        world.drain()
        world.instance.signal("aggregator", signal.SIGSTOP)
        world.work("agent", 20)
        world.remember("agent")
        world.instance.signal("aggregator", signal.SIGCONT)
        world.work("agent", 40)
        before = world.counters("repeated")
        world.put_back("agent", True)
        world.work("agent", 20)
        world.settle()
        lost, reported = judge(oracle, world, "an older copy of a spool")
        oracle.check(not lost and not reported, "... nothing is lost", (lost[:5], len(reported)))
        oracle.check(world.counters("repeated") > before, "... it was sent again")
        warnings = [line for line in log_of(world, "agent") if "warning" in line or "error" in line]
        oracle.check(not warnings, "... and there is nothing to say", warnings)
    finally:
        world.close()


def gone_for_good(oracle, rng, retain):
    """The store is lost while two agents work, and a third one never comes back."""
    world = World(rng, retain)
    instance = world.instance
    name = "a store is restored, an agent is gone, --retain-bytes " + retain
    try:
        second, third = world.fresh(), world.fresh()
        for agent in ("agent", second, third):
            world.work(agent, 30)
        world.drain()
        path = world.backup()
        world.work(third, 30)
        world.drain()
        world.orphaned |= world.stored()
        instance.kill(third)
        del world.agents[third]
        for agent in ("agent", second):
            world.work(agent, 60)
        world.drain()
        if retain == "0":
            world.forget("agent")
            world.forget(second)
        world.restore(path, gone=True)
        for agent in ("agent", second):
            world.work(agent, 20)
        world.settle()
        lost, reported = judge(oracle, world, name)
        oracle.check(lost, "... what only the third had is lost")
        oracle.check((retain == "0") == bool(reported), "... what the others forgot is counted",
                     len(reported))
        gaps = [row for row in events(instance) if row["kind"] == "gap"]
        unknown = [row for row in gaps if row["reason"] == "since-backup"]
        oracle.check([row["count"] for row in unknown] == [0] and
                     unknown[0]["from_ns"] < unknown[0]["to_ns"],
                     "... the partition has one gap from the backup to the restore", unknown)
        sessions = [row["session"] for row in gaps if row["reason"] == "restored"]
        oracle.check(len(sessions) == len(set(sessions)) == (2 if retain == "0" else 0),
                     "... and each session that forgot has one gap", sessions)
        for agent in ("agent", second):
            one_sentence(oracle, world, agent, "lacks batches that were acknowledged", 1)
    finally:
        world.close()


def log_of(world, name):
    with open("%s/log/%s.log" % (world.dir, name)) as log:
        return log.read().splitlines()


def one_sentence(oracle, world, name, words, least):
    """What an operator reads of it: one line, if any."""
    lines = [line for line in log_of(world, name) if words in line]
    print("\n".join(lines))
    oracle.check(least <= len(lines) <= 1, "%s says it in one line: %s" % (name, words), lines)


def spool_and_store(oracle, rng, spoken, gone=False):
    """The spool goes back, and then, or before they have spoken, the store."""
    world = World(rng, "0")
    name = "a spool, then the store went back" if spoken else "both went back at once"
    name += ", the disk is gone" if gone else ""
    try:
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
            world.restore(path, gone=gone)
        else:
            world.put_back("agent", True, lambda: world.restore(path))
        world.work("agent", 200)
        world.settle()
        lost, _ = judge(oracle, world, name)
        oracle.check(lost, "... so there are gaps", len(lost))
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
    try:
        for _ in range(rng.randint(6, 14)):
            name = rng.choice(sorted(world.agents))
            world.work(name, rng.randint(1, 60))
            what = rng.randrange(9)
            if what == 0 or backup is None:
                backup = world.backup()
            elif what == 1:
                world.restore(backup, rng.choice((signal.SIGKILL, signal.SIGTERM)))
            elif what == 2 and len(world.agents) < 4:
                world.clone(name)
            elif what in (3, 4) and name in world.old:
                world.put_back(name, rng.random() < 0.5)
            elif what in (3, 4, 8):
                world.remember(name)
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
    copied_instance(oracle, rng)
    copied_memory(oracle, rng)
    older_spool(oracle, rng)
    gone_for_good(oracle, rng, "64MiB")
    gone_for_good(oracle, rng, "0")
    for _ in range(max(1, int(os.environ.get("SCHEDULES", 6 // int(os.environ.get("SHARE", "1")))))):
        schedule(oracle, rng.getrandbits(32))
        sys.stdout.flush()
        if oracle.failed:
            break


main(test)
