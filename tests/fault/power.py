"""The plug is pulled: file systems lose what was not synced.

Spool and fallback queue lie on one loop image, the store on another, both ext4
in the first half of the rounds and XFS in the second.  In each round a load of
puts runs, and events are left in the fallback queue; then agent, aggregator or
both are stopped, their file systems are shut down without their log being
written (EXT4_IOC_SHUTDOWN; XFS has the same number), and they are killed,
mounted and started again.  They are stopped before, since a sync that is under
way during the shutdown may come back as if it had been done.

All is judged every 10 rounds, and after EPOCH rounds the disks are made again.
CUTS (default 50 / SHARE, of all together), KINDS and SEED from the environment.  Needs
root and loop devices; where there are none a line says so.
SPDX-License-Identifier: MIT
"""
import fcntl
import glob
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from judge import Journal, Ledger, Verdict, of_load
from kill import Stress
from pool import SLOW, Failed, Instance, Load, main, wait_until

SHUTDOWN, NOLOGFLUSH = 0x8004587D, 2
KINDS = os.environ.get("KINDS", "ext4 xfs").split()
MIB = {"ext4": 96, "xfs": 320}
EPOCH, JUDGED = 100, 10


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * SLOW)
    if done.returncode != 0:
        raise Failed("%s: %s" % (" ".join(words), done.stderr.decode().strip()))


class Disk:
    def __init__(self, kind, folder, name):
        self.image, self.path = "%s/%s.img" % (folder, name), "%s/%s" % (folder, name)
        os.mkdir(self.path)
        with open(self.image, "wb") as file:
            file.truncate(MIB[kind] << 20)
        run("mkfs." + kind, "-q", self.image)
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", self.image, self.path)

    def shut_down(self):
        fd = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, struct.pack("<I", NOLOGFLUSH))
        finally:
            os.close(fd)

    def again(self):
        run("umount", self.path)
        self.mount()

    def close(self):
        subprocess.run(["umount", "-l", self.path], check=False, stderr=subprocess.DEVNULL)


def missing(kind):
    """Why this cannot be done here, or None."""
    if os.geteuid() != 0:
        return "not root"
    if shutil.which("mkfs." + kind) is None:
        return "no mkfs." + kind
    with tempfile.TemporaryDirectory(prefix="pscut.") as folder:
        try:
            disk = Disk(kind, folder, "try")
        except Failed as error:
            return str(error)
        try:
            disk.shut_down()
        except OSError as error:
            return "shutdown: %s" % error
        finally:
            disk.close()
    return None


def is_stopped(pid):
    for path in glob.glob("/proc/%d/task/*/stat" % pid):
        with open(path) as file:
            if file.read().rpartition(")")[2].split()[0] not in "TtZ":
                return False
    return True


class World:
    def __init__(self, kind, rng):
        self.random = rng
        self.turns = []
        self.folder = tempfile.mkdtemp(prefix="pscut.")
        self.disks = {}
        self.instance = None
        try:
            for name in ("agent", "aggregator"):
                self.disks[name] = Disk(kind, self.folder, name)
            self.instance = Instance(
                spool=self.disks["agent"].path + "/spool",
                store=self.disks["aggregator"].path + "/store",
                agent_options=["--fallback", self.disks["agent"].path + "/fallback", "--free-bytes", "1MiB",
                               "--segment-bytes", "64KiB", "--spool-bytes", "16MiB",
                               "--retain-bytes", "256KiB"],
                aggregator_options=["--journal-keep", "10d"])
            self.load = Load(self.instance, rng.getrandbits(32))
            self.drops, self.dropped = Ledger(), 0
            self.instance.start()
        except BaseException:
            self.close()
            raise

    def drop(self):
        """An event for which no agent was there."""
        name, value = str(self.dropped), "%x" % self.random.getrandbits(64)
        self.dropped += 1
        self.drops.send(name, value)
        done = self.instance.run(
            "poolscope-emit", "-q", "--socket", "/nonexistent", "--fallback",
            self.disks["agent"].path + "/fallback", "-p", "fault$pool", "--attr", "drop=" + name,
            "--attr", "value=" + value, "test", "drop")
        if done.returncode == 0:
            self.drops.accept(name)

    def turn(self):
        """Whose power is cut: each of the three in any three rounds."""
        if not self.turns:
            self.turns = [["agent"], ["aggregator"], ["agent", "aggregator"]]
            self.random.shuffle(self.turns)
        return self.turns.pop()

    def round(self, cuts):
        stress = Stress(self.load)
        end = time.monotonic() + self.random.uniform(0.005, 0.08)
        if self.random.random() < 0.3:
            self.drop()
        time.sleep(max(0, end - time.monotonic()))
        victims = self.turn()
        for name in victims:
            self.instance.signal(name, signal.SIGSTOP)
        for name in victims:
            pid = self.instance.processes[name].pid
            wait_until(lambda pid=pid: is_stopped(pid), 10, "%s to be stopped" % name)
        for name in victims:
            self.disks[name].shut_down()
            cuts[name] += 1
        for name in victims:
            self.instance.kill(name)
        stress.end()
        for name in victims:
            self.disks[name].again()
        self.instance.start(*victims)

    def wrong(self):
        """None, or what."""
        self.load.fence()
        folder = self.disks["agent"].path + "/fallback/new"
        wait_until(lambda: not os.path.isdir(folder) or not os.listdir(folder), 60,
                   "the fallback queue to be empty")
        self.load.fence()
        self.instance.alive()
        journal = Journal(self.disks["aggregator"].path + "/store")
        verdict = Verdict(journal, [(of_load, self.load), (of_drop, self.drops)])
        journal.close()
        self.verdict = str(verdict)
        return verdict.wrong()

    def close(self):
        if self.instance is not None:
            self.instance.close()
        for disk in self.disks.values():
            disk.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def of_drop(event):
    return (event[4]["drop"], event[4]["value"]) if "drop" in event[4] else None


def play(oracle, kind, rounds, rng):
    cuts = {"agent": 0, "aggregator": 0}
    done, began = 0, time.monotonic()
    while done < rounds and not oracle.failed:
        world = World(kind, rng)
        try:
            for number in range(1, min(EPOCH, rounds - done) + 1):
                world.round(cuts)
                done += 1
                if number % JUDGED == 0 or number == EPOCH or done == rounds:
                    wrong = world.wrong()
                    if wrong is not None:
                        raise Failed("%s, round %d: %s" % (kind, done, wrong))
            print("%s: after %d rounds: %s" % (kind, done, world.verdict))
            oracle.judge(world.instance, world.load, "%s: after %d rounds" % (kind, done))
        finally:
            world.close()
    print("%s: %d rounds in %d s, cut: %s" % (kind, done, time.monotonic() - began, cuts))
    oracle.check(min(cuts.values()) > 0, kind + ": what was accepted outlives power cuts", cuts)


def test(oracle, seed):
    rounds = int(os.environ.get("CUTS", 50 // int(os.environ.get("SHARE", "1"))))
    for kind in KINDS:
        why = missing(kind)
        if why is not None:
            print("SKIPPED - no power cuts of %s: %s" % (kind, why))
            continue
        play(oracle, kind, max(3, rounds // len(KINDS)), random.Random("%s %d" % (kind, seed)))


if __name__ == "__main__":
    main(test)
