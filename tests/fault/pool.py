"""pool - an instance under test, a load with a ledger, and the oracle.

Independent of the C code: frames are built here from proto/wire.md with
python3-msgpack and a checksum of our own, and what was stored is judged by the
ledger alone:

    accepted   records that the agent acknowledged         all must be there
    submitted  records whose answer never came             there once, or not
    anything else in the store                             a phantom

SPDX-License-Identifier: MIT
"""
import json
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import msgpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../flow"))
from counters import counters  # noqa: E402

HELLO, WELCOME, BATCH, ACK, NACK, BYE, PUT = 1, 2, 3, 4, 5, 6, 12
WAIT, STORED = 1, 4
PARTITION = "fault$pool"
# How many times longer to be patient than on a quiet machine: tests/check.sh.
SLOW = int(os.environ.get("SLOW", "2"))


def make_table():
    table = []
    for i in range(256):
        crc = i
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = make_table()


def crc32c(*parts):
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


VERSION = 2


def frame(kind, header, body=b"", flags=0):
    packed = msgpack.packb(header, use_bin_type=True)
    fixed = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, flags, len(packed) + len(body))
    return fixed + struct.pack("<I", crc32c(fixed, packed, body)) + packed + body


def open_frame(data):
    magic, version, kind, flags, length, crc = struct.unpack("<4sBBHII", data[:16])
    assert magic == b"PSCP" and version == VERSION and length == len(data) - 16
    assert crc == crc32c(data[:12], data[16:]), "checksum"
    unpacker = msgpack.Unpacker(raw=False)
    unpacker.feed(data[16:])
    return kind, flags, unpacker.unpack()


class Failed(Exception):
    pass


class Instance:
    """Aggregator, broker and agent over one directory, each killed and
    started at will."""

    def __init__(self, store=None, spool=None, agent_options=(), aggregator_options=(),
                 broker=None):
        self.dir = tempfile.mkdtemp(prefix="psf.")
        os.mkdir(self.dir + "/run", 0o700)
        os.mkdir(self.dir + "/log", 0o700)
        self.options = {
            "aggregator": ["--store", store or self.dir + "/store"] + list(aggregator_options),
            "broker": [],
            "agent": ["-p", PARTITION, "-n", "node-0", "--no-samples", "--no-clock",
                      "--spool", spool or self.dir + "/spool"] + list(agent_options),
        }
        if broker:
            self.options["agent"] += ["--broker", broker]
        self.words = {}  # what starts it, where that is not its name
        self.slowest = 0.0  # seconds until all that were started were ready
        self.processes = {}

    def spawn(self, name):
        """Start it; returns where it will say that it is ready."""
        log = open("%s/log/%s.log" % (self.dir, name), "ab")
        reader, writer = os.pipe()
        self.processes[name] = subprocess.Popen(
            self.words.get(name, ["poolscope-" + name]) +
            ["--dir", self.dir, "--ready-fd", str(writer),
             "--pid-file", "%s/run/%s.pid" % (self.dir, name)] + self.options[name],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writer])
        os.close(writer)
        log.close()
        return reader

    def start(self, *names):
        """All of them at once, until each is ready."""
        began = time.monotonic()
        names = names or ("aggregator", "broker", "agent")
        for name, reader in [(name, self.spawn(name)) for name in names]:
            ready, _, _ = select.select([reader], [], [], 60 * SLOW)
            word = os.read(reader, 1) if ready else b""
            os.close(reader)
            if word != b"\n":
                process = self.processes.pop(name)
                process.kill()
                process.wait()
                raise Failed("%s did not start: %s" % (name, self.tail(name)))
        self.slowest = max(self.slowest, time.monotonic() - began)

    def start_and_kill(self, name, after):
        """Whoever recovers is killed as well."""
        reader = self.spawn(name)
        time.sleep(after)
        process = self.processes.pop(name)
        os.close(reader)
        if process.poll() is not None:
            raise Failed("%s did not start: %s" % (name, self.tail(name)))
        process.kill()
        process.wait()

    def peak(self, name):
        """The most memory that this process ever had, in bytes."""
        with open("/proc/%d/status" % self.processes[name].pid) as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
        return 0

    def tail(self, name):
        with open("%s/log/%s.log" % (self.dir, name), errors="replace") as log:
            return log.read()[-2000:]

    def kill(self, name, signo=signal.SIGKILL):
        process = self.processes.pop(name)
        if process.poll() is not None:
            raise Failed("%s ended by itself (%s): %s" %
                         (name, process.returncode, self.tail(name)))
        process.send_signal(signo)
        return process.wait(timeout=60 * SLOW)

    def signal(self, name, signo):
        self.processes[name].send_signal(signo)

    def alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Failed("%s ended by itself (%s): %s" %
                             (name, process.returncode, self.tail(name)))

    def run(self, *words, check=True):
        if words[0].startswith("poolscope-"):
            # The verb of these is their first word.
            verb = 2 if words[0] in ("poolscope-admin", "poolscope-spool") else 1
            words = words[:verb] + ("--dir", self.dir) + words[verb:]
        done = subprocess.run(words,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=150 * SLOW)
        if check and done.returncode != 0:
            raise Failed("%s: %s" % (" ".join(words), done.stderr.decode()[-2000:]))
        return done

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class Load:
    """Sends numbered events to the agent's local socket and writes the ledger."""

    def __init__(self, instance, seed, partition=PARTITION):
        self.instance = instance
        self.path = instance.dir + "/run/agent.sock"
        self.partition = partition
        self.random = random.Random(seed)
        self.next = 0
        self.accepted = {}
        self.submitted = {}
        self.refused = 0
        self.sock = None

    def connect(self):
        if self.sock is None:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            sock.settimeout(5)
            try:
                sock.connect(self.path)
            except OSError:
                sock.close()
                return False
            self.sock = sock
        return True

    def disconnect(self):
        if self.sock is not None:
            self.sock.close()
        self.sock = None

    def record(self):
        number = self.next
        self.next += 1
        payload = "%016x" % self.random.getrandbits(64) * self.random.choice((1, 1, 1, 40))
        # Starts and ends in turn, so that statistics have something to show.
        name = "pull-start" if number % 2 == 0 else "pull-end"
        image = "img=i%d" % (number // 2)
        uuid = self.random.getrandbits(128).to_bytes(16, "big")
        return number, payload, msgpack.packb(
            [1, 1_700_000_000_000_000_000 + number * 1000, "cascade", name,
             {"message": image, "number": number, "payload": payload}, uuid],
            use_bin_type=True)

    def put(self, records, wait=5.0, tries=2, stored=False):
        """Send records in one put; True when they were accepted, or stored."""
        body = b"".join(packed for _, _, packed in records)
        for _ in range(tries):
            if not self.connect():
                return False
            for number, payload, _ in records:
                self.submitted[number] = payload
            token = self.random.getrandbits(32)
            message = frame(PUT, [self.partition, "", b"\0" * 16, token, len(records), 0,
                                  time.time_ns(), len(body)], body, WAIT if stored else 0)
            try:
                self.sock.send(message)
                self.sock.settimeout(wait)
                answer = self.sock.recv(65536)
            except OSError:
                answer = b""
            if not answer:
                self.disconnect()
                continue
            kind, _, header = open_frame(answer)
            if header[3] != token:
                raise Failed("an answer to another question")
            if kind == ACK:
                for number, payload, _ in records:
                    self.accepted[number] = payload
                    self.submitted.pop(number, None)
                return not stored or self.stored(token, wait)
            if kind != NACK:
                raise Failed("answer of kind %d" % kind)
            self.refused += 1
            return False
        return False

    def stored(self, token, wait):
        """The second answer."""
        try:
            self.sock.settimeout(wait)
            answer = self.sock.recv(65536)
        except OSError:
            answer = b""
        if not answer:
            self.disconnect()
            return False
        kind, flags, header = open_frame(answer)
        if (kind, flags, header[3]) != (ACK, STORED, token):
            raise Failed("an answer of kind %d, flags %d" % (kind, flags))
        return True

    def fence(self, seconds=60):
        """Until all that was accepted so far is stored."""
        wait_until(lambda: self.put([self.record()], stored=True, wait=2.0, tries=1), seconds,
                   "what was accepted to be stored")
        wait_until(lambda: earlier_are_sent(self.instance), seconds, "earlier sessions to be sent")

    def burst(self, seconds, size=8):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.put([self.record() for _ in range(self.random.randint(1, size))])


def events(instance, partition=PARTITION):
    done = instance.run("poolscope-dump", "-p", partition, "--format", "jsonl")
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_indexed(instance):
    """Is every record that was acknowledged in the tables, so that readers see it?"""
    return counted(instance, "store", "indexing_lag") == 0


def counted(instance, of, *names, options=()):
    """Counters of the status; None: there is no answer.  One name: its counter alone."""
    done = instance.run("poolscope-stats", "status", "--format", "json", *options, check=False)
    found = counters(json.loads(done.stdout)) if done.returncode in (0, 3) else {}
    values = [found.get(of, {}).get(name) for name in names]
    return values if len(names) > 1 else values[0]


def wait_until(condition, seconds, what):
    """Bounded polling; returns when the condition holds."""
    seconds *= SLOW
    end = time.monotonic() + seconds
    pause = 0.01
    while not condition():
        if time.monotonic() > end:
            raise Failed("not within %d s: %s" % (seconds, what))
        select.select([], [], [], pause)
        pause = min(pause * 1.5, 0.3)


LAST_NUMBERS = """
import json, lmdb, sys
env = lmdb.open(sys.argv[1], readonly=True, max_dbs=8, map_size=1 << 36)
with env.begin(db=env.open_db(b"streams", create=False)) as txn:
    print(json.dumps({key[:16].hex() + key[16:].decode(): int.from_bytes(value[:8], "little")
                      for key, value in txn.cursor()}))
"""


def last_numbers(store):
    """Session and partition -> the last number of the stream that the store has.

    In a process of its own: a test may have the journal open (judge.py), and who closes
    any descriptor of a file gives up the locks that its process has on it."""
    return json.loads(subprocess.check_output(
        [sys.executable, "-c", LAST_NUMBERS, store + "/journal"], timeout=150 * SLOW))


def earlier_are_sent(instance, name="agent"):
    """Has the store what the earlier starts of this agent have left?  The agent sends it
    next to the current session, and notes in ACKED what it knows every five seconds."""
    def option(of, word):
        return instance.options[of][instance.options[of].index(word) + 1]
    done = instance.run("poolscope-spool", "ls", option(name, "--spool"), "--format", "json",
                        check=False)
    if done.returncode != 0:
        return False  # it changed while it was read
    found = json.loads(done.stdout)
    left = [stream for stream in found["streams"]
            if stream["session"] != found["rows"][-1]["session"] and
            stream["acknowledged"] < (stream["last"] or 0)]
    if not left:
        return True
    stored = last_numbers(option("aggregator", "--store"))
    return all(stored.get(s["session"] + s["partition"], 0) >= s["last"] for s in left)


def drain(instance, seconds=60, partition=PARTITION, meanwhile=lambda: None):
    """Wait until everything accepted is stored: an event sent last, waited for, and
    what earlier starts have left."""
    def stored():
        meanwhile()
        return instance.run("poolscope-emit", "-p", partition, "test", "fence", "--wait", "stored",
                            "--timeout", "20s", check=False).returncode == 0
    wait_until(stored, seconds, "the agent's spool to be empty")
    wait_until(lambda: earlier_are_sent(instance), seconds, "earlier sessions to be sent")


class Oracle:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, good, name, detail=""):
        if good:
            self.passed += 1
            print("ok - " + name)
        else:
            self.failed += 1
            print("not ok - %s: %s" % (name, detail))

    def judge(self, instance, load, name):
        instance.alive()
        wait_until(lambda: is_indexed(instance), 60, "the index to be complete")
        rows = events(instance, load.partition)
        stored = {}
        twice, wrong, identities, streams = [], [], set(), {}
        for row in rows:
            if row["kind"] in ("gap", "rejected"):
                wrong.append(row)
                continue
            if row["kind"] != "event":
                continue
            identity = (row["session"], row["seq"], row["index"])
            if identity in identities:
                twice.append(identity)
            identities.add(identity)
            streams.setdefault(row["session"], {}).setdefault(row["seq"], set()).add(row["index"])
            attributes = row["attributes"]
            if "number" not in attributes:
                continue
            number = attributes["number"]
            if number in stored:
                twice.append(number)
            stored[number] = attributes["payload"]
        lost = [n for n in load.accepted if n not in stored]
        changed = [n for n, p in load.accepted.items() if stored.get(n, p) != p]
        known = {**load.submitted, **load.accepted}
        phantom = [n for n, p in stored.items() if known.get(n) != p]
        holes = []
        for session, seqs in streams.items():
            for seq, indexes in seqs.items():
                if indexes != set(range(len(indexes))):
                    holes.append((session, seq))
            if set(seqs) != set(range(1, len(seqs) + 1)):
                holes.append(session)
        print("%s: %d accepted, %d unanswered, %d refused, %d stored; %d lost, %d twice, %d phantom" %
              (name, len(load.accepted), len(load.submitted), load.refused, len(stored), len(lost),
               len(twice), len(phantom)))
        self.check(not lost, name + ": nothing accepted is lost", lost[:10])
        self.check(not twice, name + ": nothing is stored twice", twice[:10])
        self.check(not phantom, name + ": nothing is there that was not sent", phantom[:10])
        self.check(not changed, name + ": everything is as it was sent", changed[:10])
        self.check(not holes, name + ": every stream is whole", holes[:10])
        self.check(not wrong, name + ": no gap and no rejected batch", wrong[:3])
        self.statistics(instance, load.partition, stored, name)

    def statistics(self, instance, partition, stored, name):
        """Each pair (2k, 2k + 1) is a pull of 1 us: what a pass over the
        records gives."""
        pairs = sum(1 for n in stored if n % 2 == 0 and n + 1 in stored)
        done = instance.run("poolscope-stats", "phases", "-p", partition, "--format", "json")
        rows = [r for r in json.loads(done.stdout)["rows"] if r["phase"] == "cascade:pull"]
        got = rows[0] if rows else {"count": 0}
        self.check(got["count"] == pairs and (not pairs or abs(got["mean"] - 1e-6) < 1e-12),
                   name + ": statistics equal a pass over the records", (pairs, got))

    def end(self):
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed else 0


def seed():
    value = int(os.environ.get("SEED", "0")) or int.from_bytes(os.urandom(4), "big")
    print("seed %d" % value)
    return value


def main(test):
    """Run test(oracle, seed) and end with the counts, whatever happens."""
    oracle = Oracle()
    try:
        test(oracle, seed())
    except (Failed, OSError, subprocess.SubprocessError) as error:
        oracle.check(False, "the test ran to its end", error)
    sys.exit(oracle.end())
