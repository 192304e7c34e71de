"""A thousand agents, 20,000 records a second, for as long as one likes.

crowd.c speaks the protocol for all of them; aggregator and broker are real.
Meanwhile the journal is read with python3-lmdb, entry after entry: every stream
must go on without a hole, and so must the numbers in its records.  Once a second
memory and descriptors of aggregator and broker are noted: over the second half
memory may not grow, and descriptors may not change.

SECONDS (default 60 / SHARE, 10 at least), AGENTS and RATE (default 1000 and
20000, / SHARE) from the environment.
SPDX-License-Identifier: MIT
"""
import os
import resource
import select
import struct
import subprocess
import time

import msgpack

from judge import Journal, Stream
from pool import BATCH, SLOW, Failed, Instance, main, wait_until
from pool import counted as counted_of

SHARE = int(os.environ.get("SHARE", "1"))
SECONDS = max(10, int(os.environ.get("SECONDS", 60 // SHARE)))
AGENTS = int(os.environ.get("AGENTS", 1000 // SHARE))
RATE = int(os.environ.get("RATE", 20000 // SHARE))
CROWD = "%s/../../%s/fault/crowd" % (os.path.dirname(os.path.abspath(__file__)),
                                    os.environ.get("B", "build"))
POOL = "fault$soak"
GROWTH_MAX = 16 << 20
MEMORY_MAX = 1 << 29
SERVICES = ("aggregator", "broker")


class Tail(Journal):
    """The journal while it grows.  Nothing is remembered of what was seen but where
    each stream stands; checksums are for shorter tests."""

    def opened(self, table, key, value):
        return value[:-4]

    def stream(self, key, value):
        self.streams.setdefault((key[16:].decode(), key[:16]), Stream()).stated = True

    def entry(self, number, value):
        flags, fault, _, _, _, _, first, _ = struct.unpack("<BBHIqQQQ", value[:40])
        data = value[40:]
        unpacker = msgpack.Unpacker(raw=False)
        unpacker.feed(data[16:])
        header = unpacker.unpack()
        stream = self.streams.setdefault((header[0], bytes(header[2])), Stream())
        stream.stated = True
        if flags or fault or data[5] != BATCH or first != stream.last_seq + 1 or header[3] != first:
            self.faults.append("entry %d: type %d, number %d follows %d" %
                               (number, data[5], header[3], stream.last_seq))
        stream.last_seq = header[3]
        for record in unpacker:
            if record[4]["n"] != stream.records:
                self.faults.append("entry %d: record %d follows %d" %
                                   (number, record[4]["n"], stream.records - 1))
            stream.records = record[4]["n"] + 1
        self.entries += 1


class Stats:
    """Memory and descriptors of a process, noted now and then."""

    def __init__(self, pid):
        self.pid = pid
        self.memory, self.descriptors = [], []

    def note(self):
        with open("/proc/%d/status" % self.pid) as file:
            fields = dict(line.split(":", 1) for line in file)
        self.memory.append((time.monotonic(), int(fields["RssAnon"].split()[0]) << 10))
        self.descriptors.append(len(os.listdir("/proc/%d/fd" % self.pid)))

    def second_half(self, values):
        return values[len(values) // 2:]

    def growth(self):
        """Bytes that memory rose by in the second half, and bytes an hour: as
        in the quietest of its four parts, since a leak goes on all the time
        and what a burst needed stays."""
        points = self.second_half(self.memory)
        size = max(2, len(points) // 4)
        slope = min(rise(points[k:k + size]) for k in range(0, len(points) - size + 1, size))
        return slope * (points[-1][0] - points[0][0]), slope * 3600


def rise(points):
    """Bytes a second of the straight line through them."""
    mean_t = sum(t for t, _ in points) / len(points)
    mean_m = sum(m for _, m in points) / len(points)
    square = sum((t - mean_t) ** 2 for t, _ in points) or 1
    return sum((t - mean_t) * (m - mean_m) for t, m in points) / square


def counted(instance):
    """How many events the tables have."""
    return counted_of(instance, "store", "records_event") or 0


def run(oracle, instance):
    crowd = subprocess.Popen(
        [CROWD, "ipc://%s/run/broker.ipc" % instance.dir, POOL, str(AGENTS), str(RATE), str(SECONDS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stats = {name: Stats(instance.processes[name].pid) for name in SERVICES}
    tail = Tail(instance.dir + "/store")
    began = time.monotonic()
    try:
        while not select.select([crowd.stdout], [], [], 1)[0]:
            instance.alive()
            tail.read()
            if time.monotonic() < began + SECONDS:
                for each in stats.values():
                    each.note()
        lines = crowd.stdout.read().decode().splitlines()
        status = crowd.wait(timeout=60 * SLOW)
    except BaseException:
        crowd.kill()
        crowd.wait()
        raise
    tail.read()
    print(lines[-1])
    judge(oracle, instance, tail, lines[:-1], status)
    tail.close()
    for name, each in stats.items():
        grown, hourly = each.growth()
        half = each.second_half(each.descriptors)
        quarters = [each.memory[(len(each.memory) - 1) * k // 4][1] for k in range(5)]
        print("%s: %s MiB, %+.2f MiB in the second half (%+.1f an hour), %d to %d descriptors" %
              (name, " ".join("%.1f" % (m / 2**20) for m in quarters), grown / 2**20,
               hourly / 2**20, min(half), max(half)))
        oracle.check(grown < GROWTH_MAX, "the memory of the %s does not grow" % name, grown)
        oracle.check(max(m for _, m in each.memory) < MEMORY_MAX,
                     "the %s takes less than %d MiB" % (name, MEMORY_MAX >> 20))
        oracle.check(max(half) - min(half) <= 2, "the descriptors of the %s are as many" % name,
                     (min(half), max(half)))


def judge(oracle, instance, tail, lines, status):
    oracle.check(status == 0, "everything that was made is acknowledged", status)
    oracle.check(not tail.faults, "no stream has a hole", tail.faults[:5])
    short, total = [], 0
    for line in lines:
        node, session, batches, records = line.split()
        stream = tail.streams.get((POOL, bytes.fromhex(session)), Stream())
        total += int(records)
        if (stream.last_seq, stream.records) != (int(batches), int(records)):
            short.append((node, stream.last_seq, batches, stream.records, records))
    print("journal of %d entries: %d records of %d agents, %d agents short" %
          (tail.entries, sum(s.records for s in tail.streams.values()), len(lines), len(short)))
    oracle.check(len(lines) == AGENTS and not short, "nothing acknowledged is lost", short[:5])
    oracle.check(len(tail.streams) == AGENTS, "nothing is there that was not sent",
                 len(tail.streams))
    wait_until(lambda: counted(instance) >= total, 120, "the tables to have everything")
    oracle.check(counted(instance) == total, "the tables have every record once",
                 (counted(instance), total))


def test(oracle, _):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * AGENTS + 100
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise Failed("%d open files are needed, the limit is %d" % (wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    instance = Instance(aggregator_options=["--map-bytes", "64GiB"])
    try:
        instance.start(*SERVICES)
        run(oracle, instance)
    finally:
        instance.close()


main(test)
