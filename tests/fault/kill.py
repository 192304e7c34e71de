"""kill -9 at random points on agent, broker, aggregator and their clients.

A load of puts runs all the time.  In each round programs come and go: emit,
import and upload are started, and each of them, agent, broker and aggregator
may be killed while others work; who was killed is started again, sometimes
only to be killed while it recovers.  An import or upload that was killed is
run again until it ends well; an emit that was killed may have sent or not.

Every EPOCH rounds all is judged, and a new instance begins.  ROUNDS (default
300), SEED and SHARE from the environment; a clients' share of the kills and
how long a recovery took are printed.
SPDX-License-Identifier: MIT
"""
import os
import random
import signal
import subprocess
import threading
import time

from judge import Ledger, judge_journal, of_load, write_old_rows
from pool import PARTITION, SLOW, Failed, Instance, Load, drain, main, wait_until
from results import ENTRIES, POOL, row_of, stored_rows, write

PROGRAMS = ("aggregator", "broker", "agent")
IMPORTED = "fault$import"
EPOCH = 300
ROWS = 120
MEMORY_MAX = 1 << 30
SPOOL_MIB = 64


class Stress(threading.Thread):
    """Submits, one after another, until `end`."""

    def __init__(self, load, pause=0.001):
        super().__init__(daemon=True)
        self.load, self.pause = load, pause
        self.going = True
        self.error = None
        self.start()

    def run(self):
        try:
            while self.going:
                if not self.load.put([self.load.record() for _ in
                                      range(self.load.random.randint(1, 6))]):
                    time.sleep(0.005)  # the agent is dead
                time.sleep(self.pause)
        except Failed as error:
            self.error = error

    def end(self):
        self.going = False
        self.join(60 * SLOW)
        if self.error or self.is_alive():
            raise self.error or Failed("the load does not end")
        self.load.disconnect()


class Client:
    """One program that is run, perhaps killed, and perhaps run again."""

    def __init__(self, instance, again, words, done):
        self.command = [words[0], "--dir", instance.dir] + words[1:]
        self.log_path = "%s/log/%s.log" % (instance.dir, words[0])
        self.again, self.done = again, done
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def kill(self):
        """Was it alive?"""
        self.process.kill()
        return self.process.wait() == -signal.SIGKILL

    def ended(self):
        """None, or whether it has done what it should."""
        status = self.process.poll()
        if status is None:
            return None
        if status == 0:
            self.done()
        elif status > 0 and status not in (1, 75):
            raise Failed("%s: status %d" % (self.command, status))
        return status == 0


class Clients:
    def __init__(self, instance, rng):
        self.instance, self.random = instance, rng
        self.running, self.waiting = [], []
        self.emits, self.imports = Ledger(), Ledger()
        self.number = self.files = 0
        self.kills = 0
        for name in ("data", "archive", "imports"):
            os.mkdir("%s/%s" % (instance.dir, name))

    def emit(self):
        number, value = str(self.number), "%x" % self.random.getrandbits(64)
        self.number += 1
        self.emits.send(number, value)
        return Client(self.instance, False, [
            "poolscope-emit", "-q", "-p", PARTITION, "--attr", "emit=" + number, "--attr", "value=" + value,
            "test", "kill"], lambda: self.emits.accept(number))

    def import_file(self):
        path = "%s/imports/%d" % (self.instance.dir, self.number)
        self.number += 1
        names = ["%d.%d" % (self.number, row) for row in range(ROWS)]
        write_old_rows(path, names, self.imports, self.random)

        def done():
            for name in names:
                self.imports.accept(name)
        return Client(self.instance, True, ["poolscope-import", "-q", "-p", IMPORTED, "emits",
                                            path], done)

    def upload(self):
        for _ in range(3):
            write(self.instance.dir + "/data", self.files)
            self.files += 1
        return Client(self.instance, True, [
            "poolscope-upload", "results", "-q", "-d", self.instance.dir + "/data", "-a",
            self.instance.dir + "/archive", "--target", "store", "-p", POOL], lambda: None)

    def reap(self):
        for client in self.running[:]:
            well = client.ended()
            if well is None:
                continue
            self.running.remove(client)
            if not well and client.again:
                self.waiting.append(client)

    def round(self):
        """Some begin."""
        self.reap()
        new = [self.emit()]
        if self.random.random() < 0.3 and len(self.waiting) < 4:
            new.append(self.random.choice((self.import_file, self.upload))())
        elif self.waiting:
            new.append(self.waiting.pop(self.random.randrange(len(self.waiting))))
        for client in new:
            client.start()
        self.running += new

    def kill(self):
        """Some end."""
        for client in self.running:
            if self.random.random() < 0.4:
                self.kills += client.kill()

    def end(self):
        """All that shall end well do so."""
        until = time.monotonic() + 120 * SLOW
        while self.running or self.waiting:
            self.reap()
            while self.waiting and len(self.running) < 4:
                client = self.waiting.pop()
                client.start()
                self.running.append(client)
            if time.monotonic() > until:
                raise Failed("a client does not end: %s" % [c.command for c in self.running])
            time.sleep(0.01)

    def close(self):
        for client in self.running:
            client.kill()


def of_emit(event):
    return (event[4]["emit"], event[4]["value"]) if "emit" in event[4] else None


def of_import(event):
    return tuple(event[4]["message"].split("=")) if event[0] == IMPORTED else None


def judge_results(oracle, instance, clients, name):
    wanted = []
    for number in range(clients.files):
        test, start, entries = row_of(number)
        wanted.append(("Test", test, start * 10**6))
        wanted += [("Entry", test, start * 10**6, e, t) for e, t in entries]
    until = time.monotonic() + 30 * SLOW
    got = []
    while len(got) < len(wanted) and time.monotonic() < until:
        got = stored_rows(instance)
    oracle.check(got == sorted(wanted), name + ": every result is there once",
                 "%d of %d (%d entries each)" % (len(got), len(wanted), ENTRIES))
    oracle.check(os.listdir(instance.dir + "/data") == [], name + ": no result file stays")


def disk_bytes(folder):
    return sum(os.lstat(os.path.join(where, file)).st_blocks * 512
               for where, _, files in os.walk(folder) for file in files)


class Rounds:
    """An instance that lives through some rounds."""

    def __init__(self, rng, kills):
        self.random, self.kills = rng, kills
        # Small segments, so that the spool changes them under fire; and new
        # sessions of one node are no attack here.
        self.instance = Instance(
            agent_options=["--segment-bytes", "256KiB", "--spool-bytes", "%dMiB" % SPOOL_MIB],
            aggregator_options=["--sessions-per-hour", "0", "--journal-keep", "10d"])
        self.load = Load(self.instance, rng.getrandbits(32))
        self.clients = Clients(self.instance, rng)
        self.peak = 0

    def round(self):
        self.clients.round()
        time.sleep(self.random.uniform(0.005, 0.08))
        victims = self.random.sample(PROGRAMS, self.random.choice((1, 1, 1, 2, 3)))
        for victim in victims:
            self.peak = max(self.peak, self.instance.peak(victim))
        if self.random.random() < 0.5:
            self.clients.kill()
        for victim in victims:
            self.instance.kill(victim)
            self.kills[victim] += 1
        if self.random.random() < 0.2:
            time.sleep(0.02)  # while they are gone
        for victim in victims:
            if self.random.random() < 0.2:
                self.instance.start_and_kill(victim, self.random.uniform(0, 0.02))
                self.kills[victim] += 1
        self.instance.start(*victims)

    def run(self, oracle, rounds, name):
        self.instance.start()
        stress = Stress(self.load)
        for _ in range(rounds):
            self.round()
        stress.end()
        self.clients.end()
        dropped = self.instance.dir + "/fallback/new"
        wait_until(lambda: not os.path.isdir(dropped) or not os.listdir(dropped), 60,
                   "the fallback queue to be empty")
        drain(self.instance)
        oracle.judge(self.instance, self.load, name)
        judge_results(oracle, self.instance, self.clients, name)
        judge_journal(oracle, self.instance.dir + "/store", [
            (of_load, self.load), (of_emit, self.clients.emits),
            (of_import, self.clients.imports)], name)
        oracle.check(self.peak < MEMORY_MAX, name + ": nobody took more than 1 GiB", self.peak)
        spool = disk_bytes(self.instance.dir + "/spool")
        oracle.check(spool <= SPOOL_MIB << 20, name + ": the spool is within its bound", spool)
        oracle.check(len(self.load.accepted) > rounds * 3, name + ": the load was a load",
                     len(self.load.accepted))
        self.kills["clients"] += self.clients.kills
        print("%s: at most %d MiB, %.2f s to start" %
              (name, self.peak >> 20, self.instance.slowest))


def test(oracle, seed):
    rounds = int(os.environ.get("ROUNDS", "300"))
    rng = random.Random(seed)
    kills = dict.fromkeys(PROGRAMS + ("clients",), 0)
    done = 0
    began = time.monotonic()
    while done < rounds:
        count = min(EPOCH, rounds - done)
        world = Rounds(rng, kills)
        try:
            world.run(oracle, count, "after %d rounds" % (done + count))
        finally:
            world.clients.close()
            world.instance.close()
        done += count
        if oracle.failed:
            break
    print("%d rounds in %d s, killed: %s" % (done, time.monotonic() - began, kills))


if __name__ == "__main__":
    main(test)
