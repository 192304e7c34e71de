"""kill -9 at random points on eight uploaders that share a directory.

In each round files arrive, all are started, and each is killed at a random time
of its own; so is the aggregator in every other round.  A kill counts when the
uploader was at work: it is stopped first, and then it has a file of the data
directory, or one that it has just moved to the archive, open and locked.  Rounds
go on until each of the eight was killed so five times, with files that come back
from the archive when there are no others.

Then all run to their end.  Checked is that each ends with 0, that each was killed
at work five times, that no file is left in the data directory and every one is in
the archive under its name, that every Test and Entry is in the store once, and
that the store has no other entities of results.

FILES (default 2000 / SHARE) and SEED from the environment.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import signal
import subprocess
import time

from pool import SLOW, Failed, Instance, main

INSTANCES, KILLS, ROUNDS_MAX, ENTRIES = 8, 5, 200, 3
POOL = "fault$bench"


def row_of(number):
    name, start = "//c:t%d" % (number % 17), 1490000000 + number
    entries = [("BM_%d" % k, (number * 31 + k + 1) / 1024) for k in range(ENTRIES)]
    return name, start, entries


def write(folder, number):
    name, start, entries = row_of(number)
    path = "%s/f%05d.json" % (folder, number)
    text = json.dumps({"name": name, "startTime": str(start), "entries": {
        "entry": [{"name": e, "iters": "10", "wallTime": t} for e, t in entries]}})
    with open(path + ".part", "w") as file:
        file.write(text)
    os.utime(path + ".part", (start, start))
    os.rename(path + ".part", path)


def wanted_rows(files):
    rows = []
    for number in range(files):
        name, start, entries = row_of(number)
        rows.append(("Test", name, start * 10**6))
        rows += [("Entry", name, start * 10**6, e, t) for e, t in entries]
    return sorted(rows)


def stored_rows(instance):
    done = instance.run("poolscope-results", "entities", "-p", POOL, "--format", "jsonl")
    rows = []
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "poolscope" in row:
            continue
        rows.append((row["kind"], row["test"], row["start_us"]) + (
            (row["entry"], row["timing"]) if row["kind"] == "Entry" else ()))
    return sorted(rows)


def count_entities(instance):
    done = instance.run("poolscope-dump", "-p", POOL, "--kind", "entity", "--name", "result*")
    kinds = [json.loads(line)["entity"] for line in done.stdout.splitlines()]
    return {kind: kinds.count(kind) for kind in set(kinds)}


def is_at_work(pid, folders):
    """Has it locked a file there?  Of a stopped process."""
    for fd in os.listdir("/proc/%d/fd" % pid):
        path = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        if os.path.dirname(path) in folders:
            with open("/proc/%d/fdinfo/%s" % (pid, fd)) as file:
                if "FLOCK" in file.read():
                    return True
    return False


def kill(process, folders):
    """Was it at work?"""
    os.kill(process.pid, signal.SIGSTOP)  # one that ended is still there
    state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    worked = state.si_code == os.CLD_STOPPED and is_at_work(process.pid, folders)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL and worked


class Uploaders:
    def __init__(self, instance, data, archive):
        self.folders = [os.path.realpath(data), os.path.realpath(archive)]
        self.kills = [0] * INSTANCES  # at work
        self.command = ["poolscope-upload", "results", "--dir", instance.dir, "-d", data,
                        "-a", archive, "--target", "store", "-p", POOL, "-q"]
        self.log = open(instance.dir + "/log/upload.log", "ab")
        self.processes = []

    def start(self):
        """Who was killed least goes first: where files are few, that one has them."""
        self.processes = [None] * INSTANCES
        for number in sorted(range(INSTANCES), key=lambda n: self.kills[n]):
            self.processes[number] = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def kill(self, rng, spread):
        """Each at a time of its own; how many were at work."""
        worked, began = 0, time.monotonic()
        for delay, number in sorted((rng.uniform(0, spread), n) for n in range(INSTANCES)):
            time.sleep(max(0, began + delay - time.monotonic()))
            if kill(self.processes[number], self.folders):
                self.kills[number] += 1
                worked += 1
        return worked

    def wait(self):
        return [process.wait(timeout=120 * SLOW) for process in self.processes]


def test(oracle, seed):
    files = int(os.environ.get("FILES", 2000 // int(os.environ.get("SHARE", "1"))))
    rng = random.Random(seed)
    # New sessions of one node are no attack here.
    instance = Instance(aggregator_options=["--sessions-per-hour", "0"])
    data, archive = instance.dir + "/data", instance.dir + "/archive"
    os.mkdir(data)
    os.mkdir(archive)
    written = number = 0
    spread = 0.1
    try:
        instance.start("aggregator", "broker")
        uploaders = Uploaders(instance, data, archive)
        while min(uploaders.kills) < KILLS and number < ROUNDS_MAX:
            for name in rng.sample(sorted(os.listdir(archive)), len(os.listdir(archive)) // 2):
                if written == files:
                    os.rename(archive + "/" + name, data + "/" + name)
            for _ in range(min(files // KILLS + 1, files - written)):
                write(data, written)
                written += 1
            uploaders.start()
            if number % 2 == 1:
                instance.kill("aggregator")
                instance.start("aggregator")
            worked = uploaders.kill(rng, spread)
            # Neither before they begin nor when they are done.
            if not os.listdir(data):
                spread /= 1.5
            elif worked < 2:
                spread *= 1.5
            number += 1
        while written < files:
            write(data, written)
            written += 1
        uploaders.start()
        statuses = uploaders.wait()
        # Whoever found files locked may have ended before they were let go.
        uploaders.start()
        statuses += uploaders.wait()
        oracle.check(statuses == [0] * len(statuses), "every uploader ends well", statuses)
        oracle.check(min(uploaders.kills) >= KILLS,
                     "each of them was killed at work %d times" % KILLS,
                     "%s times in %d rounds" % (uploaders.kills, number))
        oracle.check(os.listdir(data) == [], "no file stays", len(os.listdir(data)))
        oracle.check(sorted(os.listdir(archive)) ==
                     ["f%05d.json" % i for i in range(files)],
                     "every file is in the archive", len(os.listdir(archive)))
        deadline = time.monotonic() + 60 * SLOW
        wanted, got = wanted_rows(files), []
        while len(got) < len(wanted) and time.monotonic() < deadline:
            got = stored_rows(instance)
        if got != wanted:
            raise Failed("%d rows in the store, not %d" % (len(got), len(wanted)))
        oracle.check(True, "every Test and Entry is in the store once", len(got))
        counts = count_entities(instance)
        oracle.check(counts == {"result": files, "result.entry": ENTRIES * files,
                                "result.test": min(17, files)},
                     "and nothing else is", counts)
    finally:
        instance.close()


if __name__ == "__main__":
    main(test)
