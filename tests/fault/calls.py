"""kill -9 at every system call of a short scenario, by strace.

    PROGRAMS="agent broker aggregator emit drop import upload"

For each program (default: agent) and each of the calls below, the scenario is
played with the program killed at its first such call, its second, and so on,
until it lives to the end; whatever the loader calls before main is left out.
Once with the first thread alone in view, and, of what other threads call as
well, once with all.  After each the program is started again, everything must
reach the store, and the journal is held against the ledger.

SEED from the environment.
SPDX-License-Identifier: MIT
"""
import collections
import os
import random
import select
import shutil
import signal
import subprocess
import tempfile
import time

from judge import Journal, Ledger, Verdict, of_load, write_old_rows
from pool import PARTITION, PUT, SLOW, Failed, Instance, Load, frame, main, wait_until
from results import POOL, row_of, stored_rows, write

CALLS = ("write", "pwrite64", "pwritev", "fdatasync", "fsync", "rename", "renameat", "renameat2",
         "unlink", "unlinkat", "openat", "sendto", "sendmsg", "ftruncate", "fallocate")
OTHERS = ("write", "sendto", "sendmsg")  # what other threads are looked at for
IMPORTED = "fault$import"
POINTS_MAX = 2000
PATIENCE_S = 60 * SLOW


def loader_calls(program):
    """How often it opens something before main."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["strace", "-o", out.name, "-e", "trace=openat", program, "--version"],
                       stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_S)
        return sum(1 for line in out if line.startswith("openat"))


def traced(call, number, threads):
    return ["strace", "-qq", "-o", "/dev/null"] + (["-f", "--seccomp-bpf"] if threads else []) + [
        "-e", "trace=" + call, "-e", "inject=%s:signal=KILL:when=%d" % (call, number)]


class World:
    """What stays from point to point, and the ledgers."""

    fresh = False  # a new world for each point?

    def __init__(self, rng):
        self.random = rng
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
    """A program that is started, works, and is told to end."""

    def play(self, words):
        """False: it was killed."""
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
                self.tell_to_end(process)
            status = process.wait(timeout=PATIENCE_S)
        except BaseException:
            process.kill()
            raise
        if status not in (0, -signal.SIGKILL, 128 + signal.SIGKILL):
            raise Failed("%s: status %d: %s" %
                         (self.program, status, self.instance.tail(self.program)))
        return status == 0

    def tell_to_end(self, process):
        with open("%s/run/%s.pid" % (self.instance.dir, self.program)) as file:
            pid = int(file.read() or "0")
        if process.poll() is None and pid > 0:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def heal(self):
        self.load.drop()
        self.instance.start(self.program)
        self.load.fence()
        wait_until(lambda: not self.dropped(), 60, "the drop directory to be empty")
        self.load.fence()
        if self.program != "aggregator":
            self.instance.kill(self.program)
        self.load.drop()

    def dropped(self):
        path = self.instance.dir + "/drop/new"
        return os.listdir(path) if os.path.isdir(path) else []


class Agent(Service):
    """Twelve puts through a spool of small segments, and two events that lie in
    the drop directory; half the points with a spool that is not there yet."""

    program = "agent"

    def play(self, words):
        if self.points % 2 == 0:
            path = "%s/spool" % self.instance.dir
            shutil.rmtree(path, ignore_errors=True)
        for _ in range(2):
            self.drop_event()
        return super().play(words)

    def drop_event(self):
        number, payload, packed = self.load.record()
        record = msgpack_uuid(packed)
        for folder in ("", "/tmp", "/new"):
            os.makedirs(self.instance.dir + "/drop" + folder, mode=0o700, exist_ok=True)
        name = self.instance.dir + "/drop/%s/" + record.hex()
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

    program = ""
    again = True

    def play(self, words):
        command, done = self.prepare()
        status = self.run(words + command)
        if status == 0:
            done()
        elif status not in (-signal.SIGKILL, 128 + signal.SIGKILL):
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
        wait_until(lambda: not os.path.isdir(self.instance.dir + "/drop/new") or
                   not os.listdir(self.instance.dir + "/drop/new"), 60, "the drops to be taken")
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


class Drop(Emit):
    """No agent answers, and the event goes to the drop directory."""

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
    """Result files: judged by what readers are told."""

    files = 0

    def prepare(self):
        data, archive = self.instance.dir + "/data", self.instance.dir + "/archive"
        for path in (data, archive):
            os.makedirs(path, exist_ok=True)
        for _ in range(2):
            write(data, self.files)
            self.files += 1
        return self.command("poolscope-upload", "results", "-q", "-d", data, "-a", archive,
                            "--to", "store", "-p", POOL), lambda: None

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


WORLDS = {"agent": Agent, "broker": Broker, "aggregator": Aggregator, "emit": Emit, "drop": Drop,
          "import": Import, "upload": Upload}


class Points:
    def __init__(self, oracle, program, seed):
        self.oracle, self.program = oracle, program
        self.random = random.Random("%s %d" % (program, seed))
        self.kind = WORLDS[program]
        self.counts = collections.Counter()
        self.world = None

    def point(self, call, number, threads):
        """Was it killed?"""
        if self.kind.fresh and self.world is not None:
            self.world.close()
            self.world = None
        if self.world is None:
            self.world = self.kind(self.random)
        words = traced(call, number, threads)
        killed = not self.world.play(words)
        self.world.heal()
        wrong = self.world.verdict()
        self.world.points += 1
        if wrong is not None:
            raise Failed("%s killed at %s %d%s: %s" %
                         (self.program, call, number, " of any thread" if threads else "", wrong))
        return killed

    def all(self):
        skipped = loader_calls("poolscope-" + {"drop": "emit"}.get(self.program, self.program))
        try:
            for threads in (False, True):
                for call in OTHERS if threads else CALLS:
                    number = skipped if call == "openat" else 0
                    while number < POINTS_MAX:
                        number += 1
                        if not self.point(call, number, threads):
                            break
                        self.counts[call] += 1
        finally:
            if self.world is not None:
                self.world.close()
        print("%s: killed at %d calls: %s" % (
            self.program, sum(self.counts.values()),
            ", ".join("%s %d" % pair for pair in sorted(self.counts.items()))))
        self.oracle.check(sum(self.counts.values()) > 0,
                          "%s: killed at every call, all is stored once" % self.program)


def test(oracle, seed):
    if os.environ.get("VARIANT", "release") != "release":
        print("not run: sanitizers and strace both want to trace")
        return
    if subprocess.run(["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true"], check=False,
                      capture_output=True, timeout=PATIENCE_S).returncode != 0:
        print("SKIPPED - no kills at system calls: strace may not trace here")
        return
    programs = os.environ.get("PROGRAMS", "agent")
    for program in WORLDS if programs == "all" else programs.split():
        began = time.monotonic()
        Points(oracle, program, seed).all()
        print("%s: %d s" % (program, time.monotonic() - began))


main(test)
