"""worlds - programs whose work is disturbed, each with what it works upon.

A world is played: its program does something short, under what disturbs it;
healed: the program is started again undisturbed, and all that was accepted
must reach the store; and judged: the journal is held against the ledgers.
SPDX-License-Identifier: MIT
"""
import collections
import os
import random
import select
import shutil
import signal
import subprocess
import time

from judge import Journal, Ledger, Verdict, of_load, write_old_rows
from pool import PARTITION, PUT, SLOW, Failed, Instance, Load, frame, wait_until
from results import POOL, row_of, stored_rows, write

IMPORTED = "fault$import"
PATIENCE_S = 60 * SLOW


class World:
    """What stays from point to point, and the ledgers."""

    program = ""
    fresh = False  # a new world for each point?

    def __init__(self, rng, ends):
        """`ends` says whether a status is one that it may end with."""
        self.random = rng
        self.ends = ends
        self.points = 0
        self.instance = Instance(
            agent_options=["--segment-bytes", "16KiB", "--spool-bytes", "1MiB", "--retain-bytes", "0",
                           "--free-bytes", "0", "--drain", "5s"],
            aggregator_options=["--sessions-per-hour", "0", "--journal-keep", "10d"])
        self.load = Load(self.instance, rng.getrandbits(32))
        self.ledger = Ledger()
        self.ledgers = [(of_load, self.load), (self.find, self.ledger)]
        self.journal = None
        self.begin()

    def begin(self):
        self.instance.start(*(name for name in ("aggregator", "broker", "agent")
                              if name != self.program))

    def find(self, event):
        """What finds the records of `ledger`."""
        return None

    def put(self, count=8):
        return self.load.put([self.load.record() for _ in range(count)], tries=1)

    def verdict(self):
        if self.journal is None:
            self.journal = Journal(self.instance.dir + "/store")
        else:
            self.journal.read()
        return Verdict(self.journal, self.ledgers).wrong()

    def close(self):
        if self.journal is not None:
            self.journal.close()
        self.instance.close()


class Service(World):
    """A program that is started, works, and gets TERM."""

    def play(self, words):
        """Started behind `words`.  Did it end as if nothing were?"""
        self.instance.words[self.program] = words + ["poolscope-" + self.program]
        reader = self.instance.spawn(self.program)
        process = self.instance.processes.pop(self.program)
        del self.instance.words[self.program]
        try:
            select.select([reader], [], [], PATIENCE_S)
            ready = os.read(reader, 1) == b"\n"  # or the end
            os.close(reader)
            if ready:
                self.work()
                self.terminate(process)
            status = process.wait(timeout=PATIENCE_S)
        except BaseException:
            process.kill()
            raise
        if not self.ends(status):
            raise Failed("%s: status %d: %s" %
                         (self.program, status, self.instance.tail(self.program)))
        return status == 0

    def terminate(self, process):
        """Itself, or what strace has started."""
        pid = process.pid
        try:
            with open("/proc/%d/comm" % pid) as file:
                if file.read().strip() == "strace":
                    with open("/proc/%d/task/%d/children" % (pid, pid)) as children:
                        pid = int(children.read().split()[0])
            os.kill(pid, signal.SIGTERM)
        except (OSError, IndexError):
            pass  # it has ended

    def heal(self):
        self.load.disconnect()
        self.instance.start(self.program)
        self.load.fence()
        wait_until(lambda: not self.left(), 60, "the fallback queue to be empty")
        self.load.fence()
        if self.program != "aggregator":
            self.instance.kill(self.program)
        self.load.disconnect()

    def left(self):
        path = self.instance.dir + "/fallback/new"
        return os.listdir(path) if os.path.isdir(path) else []


class Agent(Service):
    """Twelve puts through a spool of small segments, and two events that lie in
    the fallback queue; half the points with a spool that is not there yet."""

    program = "agent"

    def play(self, words):
        if self.points % 2 == 0:
            path = "%s/spool" % self.instance.dir
            shutil.rmtree(path, ignore_errors=True)
        for _ in range(2):
            self.leave_event()
        return super().play(words)

    def leave_event(self):
        number, payload, packed = self.load.record()
        record = msgpack_uuid(packed)
        for folder in ("", "/tmp", "/new"):
            os.makedirs(self.instance.dir + "/fallback" + folder, mode=0o700, exist_ok=True)
        name = self.instance.dir + "/fallback/%s/" + record.hex()
        with open(name % "tmp", "wb") as file:
            file.write(frame(PUT, [PARTITION, "", b"\0" * 16, 0, 1, 0, time.time_ns(),
                                   len(packed)], packed))
        os.rename(name % "tmp", name % "new")
        self.load.accepted[number] = payload

    def work(self):
        for _ in range(12):
            if not self.put():
                return


def msgpack_uuid(packed):
    """The last 16 bytes of an event."""
    return packed[-16:]


class Broker(Service):
    program = "broker"

    def work(self):
        for _ in range(3):
            if not self.put():
                return
        # It may be dead, and then nothing is stored.
        self.load.put([self.load.record()], stored=True, wait=0.5, tries=1)


class Aggregator(Service):
    """A store that is not there yet, and one more start."""

    program = "aggregator"
    fresh = True
    work = Broker.work


class Client(World):
    """A program that ends by itself."""

    again = True

    def play(self, words):
        command, done = self.prepare()
        status = self.run(words + command)
        if status == 0:
            done()
        elif not self.ends(status):
            raise Failed("%s: status %d" % (command, status))
        self.repeat = (command, done) if status != 0 and self.again else None
        return status == 0

    def run(self, command):
        with open(self.instance.dir + "/log/client.log", "ab") as log:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  timeout=PATIENCE_S).returncode

    def heal(self):
        if self.repeat:
            command, done = self.repeat
            status = self.run(command)
            if status != 0:
                raise Failed("%s: status %d when it is run again" % (command, status))
            done()
        wait_until(lambda: not os.path.isdir(self.instance.dir + "/fallback/new") or
                   not os.listdir(self.instance.dir + "/fallback/new"), 60, "the fallback queue to be empty")
        self.load.fence()

    def command(self, *words):
        return [words[0], "--dir", self.instance.dir] + list(words[1:])


class Emit(Client):
    again = False
    options = ()

    def find(self, event):
        return (event[4]["emit"], event[4]["value"]) if "emit" in event[4] else None

    def prepare(self):
        number, value = str(self.points), "%x" % self.random.getrandbits(64)
        self.ledger.send(number, value)
        return self.command("poolscope-emit", "-p", PARTITION, "--attr", "emit=" + number, "--attr",
                            "value=" + value, *self.options, "test", "kill"), \
            lambda: self.ledger.accept(number)


class Fallback(Emit):
    """No agent answers, and the event goes to the fallback queue."""

    options = ("--socket", "/nonexistent")


class Import(Client):
    def find(self, event):
        return tuple(event[4]["message"].split("=")) if event[0] == IMPORTED else None

    def prepare(self):
        path = "%s/%d.jsonl" % (self.instance.dir, self.points)
        names = ["%d.%d" % (self.points, row) for row in range(40)]
        write_old_rows(path, names, self.ledger, self.random)

        def done():
            for name in names:
                self.ledger.accept(name)
        return self.command("poolscope-import", "-q", "-p", IMPORTED, "emits", path), done


class Upload(Client):
    """Result files: judged by what readers get."""

    files = 0

    def prepare(self):
        data, archive = self.instance.dir + "/data", self.instance.dir + "/archive"
        for path in (data, archive):
            os.makedirs(path, exist_ok=True)
        for _ in range(2):
            write(data, self.files)
            self.files += 1
        return self.command("poolscope-upload", "results", "-q", "-d", data, "-a", archive,
                            "--target", "store", "-p", POOL), lambda: None

    def verdict(self):
        wrong = super().verdict()
        wanted = []
        for number in range(self.files):
            name, start, entries = row_of(number)
            wanted.append(("Test", name, start * 10**6))
            wanted += [("Entry", name, start * 10**6, e, t) for e, t in entries]
        if os.listdir(self.instance.dir + "/data"):
            return "a file stays"
        until = time.monotonic() + PATIENCE_S
        while wrong is None and stored_rows(self.instance) != sorted(wanted):
            if time.monotonic() > until:
                return "results are not those of the files"
        return wrong


WORLDS = {"agent": Agent, "broker": Broker, "aggregator": Aggregator, "emit": Emit, "fallback": Fallback,
          "import": Import, "upload": Upload}


class Trials:
    """One program, played again and again with one thing going wrong each time:
    `play` does that, and counts them by kind."""

    def __init__(self, oracle, program, seed, ends):
        self.oracle, self.program, self.ends = oracle, program, ends
        self.random = random.Random("%s %d" % (program, seed))
        self.kind = WORLDS[program]
        self.counts = collections.Counter()
        self.world = None

    def renew(self):
        if self.kind.fresh and self.world is not None:
            self.world.close()
            self.world = None
        if self.world is None:
            self.world = self.kind(self.random, self.ends)

    def judge(self, name):
        try:
            self.world.heal()
            wrong = self.world.verdict()
        except Failed as why:
            raise Failed("%s: %s" % (name, why)) from why
        self.world.points += 1
        if wrong is not None:
            raise Failed("%s: %s" % (name, wrong))

    def all(self, what, promise):
        try:
            self.play()
        finally:
            if self.world is not None:
                self.world.close()
        print("%s: %s: %s" % (
            self.program, what % sum(self.counts.values()),
            ", ".join("%s %d" % pair for pair in sorted(self.counts.items()))))
        self.oracle.check(sum(self.counts.values()) > 0, "%s: %s" % (self.program, promise))


def of_each_program(default, try_one):
    programs = os.environ.get("PROGRAMS", default)
    for program in WORLDS if programs == "all" else programs.split():
        began = time.monotonic()
        try_one(program)
        print("%s: %d s" % (program, time.monotonic() - began))
