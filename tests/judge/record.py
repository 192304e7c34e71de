#!/usr/bin/env python3
"""record - records what an agent reports while a job on this machine is slowed
by a real cause.

    sudo tests/judge/record.py --kinds clean,cpu,... --count 20 -o DIR

The job does what a node of a pool does: it fetches the layer of an image from
a registry (an HTTP server in another network namespace, behind a token
bucket), checks and unpacks it, looks its blocks up in a base layer that is
mapped into memory, writes it to the disk past the page cache, and loads it:
reads it back.  It waits for a place before it pulls, as cascade.py does, and
emits the events of deploy/models/cascade.conf.  A real agent samples the real
/proc every second and sends to a real aggregator; a recording is what
`poolscope dump` says of the seconds around the job.

Each recording is a file DIR/KIND-NN.jsonl.xz and a line of DIR/truth.jsonl;
DIR/definitions.jsonl has the metric groups.
The kinds:

    clean       nothing
    cpu         busy loops of other programs
    memory      a memory cgroup that holds less than the base layer
    disk        bytes a second of the disk, by the blkio cgroup
    network     the token bucket of the registry's interface gets narrower
    size        the image has more layers
    places      another node has the only place
    clock       the clock of the node jumps forward during the pull (faketime)

It needs root, cgroups of version 1, ip and tc (iproute2), faketime.

--freeze PATTERN: programs whose working directory matches the regular
expression are frozen while something is recorded, at most 20 s at a time and
no more than half of the time.
SPDX-License-Identifier: MIT
"""
import argparse
import fcntl
import glob
import hashlib
import http.server
import json
import lzma
import mmap
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("B", ROOT + "/build") + "/bin/"
PARTITION = "judge$recorded"
MB = 1 << 20
UNIT = 16 * MB             # of a layer, unpacked
UNITS = 10                 # of the image
BASE = 256 * MB            # the base layer
LOOKUPS = 650              # in the base layer, for each MB unpacked
RATE = 140                 # of the registry, Mbit/s
CGROUP = "/sys/fs/cgroup/"
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
KINDS = ("clean", "cpu", "memory", "disk", "network", "size", "places", "clock")


# ---- the job of a node ----

def emit(args, event, **attributes):
    message = ",".join("%s=%s" % pair for pair in attributes.items())
    subprocess.run([BIN + "poolscope-emit", "-p", PARTITION, "-n", args.node, "--dir", args.dir]
                   + (["--message", message] if message else []) + [event], check=True)


def wait_for_place(path):
    """Polled, as the leases of the reference are."""
    place = os.open(path, os.O_CREAT | os.O_RDWR)
    while True:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return place
        except BlockingIOError:
            time.sleep(0.2)


class Base:
    """The layer below: blocks that are looked up before they are written."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)
        self.map.madvise(mmap.MADV_RANDOM)
        self.rng = random.Random(7)
        self.pages = len(self.map) // 4096

    def look_up(self):
        return sum(self.map[self.rng.randrange(self.pages) * 4096] for _ in range(LOOKUPS))


def unpack(response):
    """The layer in pieces of one MB; the registry's file is a series of xz streams."""
    unpacker, rest, out = lzma.LZMADecompressor(), b"", b""
    while True:
        data = rest or response.read(256 << 10)
        if not data:
            break
        out += unpacker.decompress(data)
        rest = unpacker.unused_data if unpacker.eof else b""
        if unpacker.eof:
            unpacker = lzma.LZMADecompressor()
        while len(out) >= MB:
            yield out[:MB]
            out = out[MB:]


def pull(args, base, buffer):
    size, digest = 0, hashlib.sha256()
    layer = os.open(args.layer, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_DIRECT, 0o600)
    with urllib.request.urlopen("http://10.99.0.1:8099/%d" % args.units) as response:
        for piece in unpack(response):
            digest.update(piece)
            base.look_up()
            buffer[:] = piece
            size += os.write(layer, buffer)
    os.fsync(layer)
    os.close(layer)
    return size, digest.hexdigest()


def load(args, base, buffer, digest):
    read, layer = hashlib.sha256(), os.open(args.layer, os.O_RDONLY | os.O_DIRECT)
    while os.readv(layer, [buffer]) > 0:
        read.update(buffer)
        base.look_up()
    os.close(layer)
    if read.hexdigest() != digest:
        sys.exit("the layer is not what was pulled")


def job(args):
    begin, image = time.time(), "registry/app:v1"
    emit(args, "nodeprep:start")
    buffer = mmap.mmap(-1, MB)
    base = Base(args.base)
    emit(args, "nodeprep:end", diff="%.6f" % (time.time() - begin))
    cascade = time.time()
    emit(args, "cascade:start")
    place = wait_for_place(args.place)
    begin = time.time()
    emit(args, "cascade:pull-start", img=image)
    size, digest = pull(args, base, buffer)
    os.close(place)
    emit(args, "cascade:pull-end", img=image, size=size, diff="%.6f" % (time.time() - begin))
    begin = time.time()
    emit(args, "cascade:load-start", img=image)
    load(args, base, buffer, digest)
    emit(args, "cascade:load-end", img=image, size=size, diff="%.6f" % (time.time() - begin))
    emit(args, "cascade:gr-done", nglobalresources=1, diff="%.6f" % (time.time() - cascade))


def hold(args):
    """Another node, which pulls for as long as it is told."""
    place = wait_for_place(args.place)
    emit(args, "cascade:pull-start", img="registry/app:v1")
    print("held", flush=True)
    begin = time.time()
    time.sleep(args.seconds)
    emit(args, "cascade:pull-end", img="registry/app:v1", size=UNITS * UNIT,
         diff="%.6f" % (time.time() - begin))
    os.close(place)


# ---- the registry ----

def make_unit():
    rng, out = random.Random(1), bytearray()
    words = [rng.randbytes(rng.randint(4, 20)) for _ in range(5000)]
    while len(out) < UNIT:
        out += b"".join(rng.choices(words, k=1000))
    return lzma.compress(bytes(out[:UNIT]), preset=0)


def serve():
    unit = make_unit()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            units = int(self.path[1:])
            self.send_response(200)
            self.send_header("Content-Length", str(units * len(unit)))
            self.end_headers()
            for _ in range(units):
                self.wfile.write(unit)

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("10.99.0.1", 8099), Handler).serve_forever()


# ---- others on this machine ----

class Freezer:
    """Stops the programs of others, for seconds; thaws them whatever happens."""
    DIR = CGROUP + "freezer/poolscope-judge"

    def __init__(self, pattern, budget):
        self.pattern = re.compile(pattern) if pattern else None
        self.budget, self.frozen, self.since = budget, 0.0, None
        self.watchdog, self.thawed_at, self.owed, self.swept = None, 0.0, 0.0, 0.0
        if self.pattern:
            os.makedirs(self.DIR, exist_ok=True)

    def others(self):
        mine, parent = {os.getpid()}, {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open("/proc/%s/stat" % entry, encoding="latin-1") as file:
                        parent[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
                except OSError:
                    pass
        above = os.getpid()
        while above > 1:
            mine.add(above)
            above = parent.get(above, 0)
        for pid in parent:
            if pid == 1 or pid in mine or parent[pid] == 2 or self.is_ours(pid, parent):
                continue
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
                with open("/proc/%d/environ" % pid, "rb") as file:
                    home = b" ".join(w for w in file.read().split(b"\0")
                                     if w.startswith(b"TMPDIR="))[7:].decode() + "/"
                where = os.readlink("/proc/%d/cwd" % pid) + "/"
            except OSError:
                continue
            if words[:2] == [b"bash", b"/dev/fd/3"]:
                continue  # the shell that a person, or what runs for one, talks to
            if self.pattern.match(where) or self.pattern.match(home):
                yield pid

    @staticmethod
    def is_ours(pid, parent):
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parent.get(pid, 0)
        return False

    def set(self, state):
        with open(self.DIR + "/freezer.state", "w", encoding="ascii") as file:
            file.write(state)

    def freeze(self):
        if not self.pattern:
            return
        while time.monotonic() < self.thawed_at + self.owed:
            time.sleep(0.05)
        self.watchdog = subprocess.Popen(
            ["sh", "-c", "sleep 19.5; echo THAWED >%s/freezer.state" % self.DIR],
            start_new_session=True)
        self.since = time.monotonic()
        self.set("FROZEN")
        for _ in range(3):
            self.swept = 0.0
            self.sweep()

    def sweep(self):
        """Also those that were begun meanwhile, by the shells that go on."""
        if self.pattern and self.since is not None and time.monotonic() > self.swept + 0.4:
            for pid in self.others():
                self.move(pid, self.DIR)
            self.swept = time.monotonic()

    @staticmethod
    def move(pid, where):
        try:
            with open(where + "/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(pid))
        except OSError:
            pass

    def thaw(self):
        if not self.pattern or self.since is None:
            return
        self.set("THAWED")
        with open(self.DIR + "/cgroup.procs", encoding="ascii") as file:
            for pid in file.read().split():
                self.move(int(pid), CGROUP + "freezer")
        try:
            os.killpg(self.watchdog.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.watchdog.wait()
        self.thawed_at = time.monotonic()
        self.owed = self.thawed_at - self.since
        self.frozen += self.owed
        self.since = None


# ---- causes ----

class Cause:
    """Entered around the job: what slows it, and what the job is told."""
    before, units, words = (), UNITS, ()

    def __init__(self, recorder, rng):
        self.recorder, self.rng = recorder, rng
        self.setting = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def during(self):
        """Again and again while the job runs."""


class Cpu(Cause):
    def __enter__(self):
        loops = self.rng.randint(6, 10)
        self.setting = {"loops": loops}
        self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(loops)]
        return self

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


class Cgroup(Cause):
    controller = name = ""

    def make(self, values):
        self.setting = {"cgroup": values}
        self.path = CGROUP + self.controller + "/poolscope-judge"
        os.makedirs(self.path, exist_ok=True)
        for file, value in values.items():
            with open("%s/%s" % (self.path, file), "w", encoding="ascii") as out:
                out.write(value)
        self.before = ["sh", "-c", 'echo $$ >%s/cgroup.procs && exec "$@"' % self.path, "sh"]

    def __exit__(self, *_):
        for _ in range(50):
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.02)


class Memory(Cgroup):
    controller = "memory"

    def __enter__(self):
        with open(self.recorder.base, "rb") as base:  # its pages belong to who reads them first
            os.posix_fadvise(base.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.make({"memory.limit_in_bytes": str(self.rng.randint(56, 110) * MB)})
        return self

    def __exit__(self, *args):
        super().__exit__(*args)
        self.recorder.warm()


class Disk(Cgroup):
    controller = "blkio"

    def __enter__(self):
        where = os.stat(self.recorder.tmp).st_dev
        device, rate = "%d:%d" % (os.major(where), os.minor(where)), self.rng.randint(18, 31) * MB
        self.make({"blkio.throttle.write_bps_device": "%s %d" % (device, rate),
                   "blkio.throttle.read_bps_device": "%s %d" % (device, 2 * rate)})
        return self


class Network(Cause):
    def __enter__(self):
        rate = self.rng.randint(RATE // 4, RATE // 2 - 12)
        self.setting = {"mbit": rate}
        self.recorder.bucket(rate)
        return self

    def __exit__(self, *_):
        self.recorder.bucket(RATE)


class Size(Cause):
    def __enter__(self):
        self.units = self.rng.randint(22, 36)
        self.setting = {"units": self.units}
        return self


class Places(Cause):
    def __enter__(self):
        seconds = self.rng.uniform(4, 7)
        self.setting = {"held_s": seconds}
        self.holder = subprocess.Popen(
            self.recorder.words("hold", node="holder") + ["--seconds", str(seconds)],
            stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        return self

    def __exit__(self, *_):
        self.holder.wait()


class Clock(Cause):
    def __enter__(self):
        self.step = self.rng.randint(4, 60) / 1.0
        self.setting = {"step_s": self.step}
        self.at = time.monotonic() + self.rng.uniform(1.3, 2.3)
        self.words = ["env"] + self.recorder.faked()
        return self

    def during(self):
        if self.at is not None and time.monotonic() >= self.at:
            self.recorder.shift(self.recorder.shifted + self.step)
            self.at = None


CAUSES = {"clean": Cause, "cpu": Cpu, "memory": Memory, "disk": Disk, "network": Network,
          "size": Size, "places": Places, "clock": Clock}


def share_of_others(lines, units):
    """How much of both processors others used while the job ran: with a quarter and
    more there is a second cause.  The job itself needs 1.8 s for its image."""
    rows = [json.loads(line) for line in lines]
    times = [row["time_ns"] for row in rows if row["kind"] == "event" and row["node"] != "holder"]
    samples = sorted((row["time_ns"], row["values"]) for row in rows if row.get("set") == "cpu")
    first = max((s for s in samples if s[0] <= min(times)), default=samples[0])
    last = min((s for s in samples if s[0] >= max(times)), default=samples[-1])
    users, rest = (sum(b - a for a, b in zip(first[1][i:j], last[1][i:j]))
                   for i, j in ((1, 3), (3, 9)))  # in hundredths of a second
    return max(0.0, (users - 18 * units) / (users + rest))


# ---- the recorder ----

class Recorder:
    def __init__(self, options):
        self.options = options
        self.tmp = tempfile.mkdtemp(prefix="judge.", dir=os.environ.get("TMPDIR", "/tmp"))
        self.dir = self.tmp + "/i"
        os.makedirs(self.dir + "/run")
        self.base, self.layer, self.place = (self.tmp + "/" + n for n in ("base", "layer", "place"))
        os.makedirs(self.tmp + "/stepped/run")  # what its agent may read, later too
        self.shift_file, self.shifted = self.tmp + "/stepped/shift", 0.0
        self.shift(0.0)
        self.freezer = Freezer(options.freeze, options.budget)
        self.children = []
        with open(self.base, "wb") as base:
            base.write(random.Random(3).randbytes(MB) * (BASE // MB))
            os.fsync(base.fileno())

    # The network: the registry is here, the node in a namespace of its own.
    def connect(self):
        run = lambda *words: subprocess.run(words, check=True)
        self.node_space = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
        self.children.append(self.node_space)
        time.sleep(0.3)
        pid = str(self.node_space.pid)
        self.inside = ["nsenter", "-t", pid, "-n"]
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "eth0", "netns", pid)
        run("ip", "addr", "add", "10.99.0.1/24", "dev", "up0")
        run("ip", "link", "set", "up0", "up")
        run(*self.inside, "ip", "addr", "add", "10.99.0.2/24", "dev", "eth0")
        run(*self.inside, "ip", "link", "set", "eth0", "up")
        run("tc", "qdisc", "add", "dev", "up0", "root", "tbf", "rate", "%dmbit" % RATE,
            "burst", "256k", "latency", "100ms")

    def bucket(self, rate):
        subprocess.run(["tc", "qdisc", "change", "dev", "up0", "root", "tbf", "rate",
                        "%dmbit" % rate, "burst", "256k", "latency", "100ms"], check=True)

    def faked(self):
        return ["LD_PRELOAD=" + FAKETIME[0], "FAKETIME_TIMESTAMP_FILE=" + self.shift_file,
                "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]

    def shift(self, seconds):
        self.shifted = seconds
        with open(self.shift_file + ".new", "w", encoding="ascii") as file:
            file.write("%+.2f\n" % seconds)
        os.rename(self.shift_file + ".new", self.shift_file)

    def warm(self):
        with open(self.base, "rb") as base:
            while base.read(4 * MB):
                pass

    def daemon(self, words, name):
        """Started, and ready."""
        ready, ours = os.pipe()
        log = open("%s/%s.log" % (self.tmp, name), "ab")
        child = subprocess.Popen(words + ["--ready-fd", str(ours)], pass_fds=[ours],
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(ours)
        self.children.append(child)
        if os.read(ready, 1) == b"":
            sys.exit("%s did not start: %s/%s.log" % (name, self.tmp, name))
        os.close(ready)

    def agent(self, node):
        """Of a node; "stepped" is the one whose clock may jump."""
        path = "%s/%s" % (self.tmp, node)
        os.makedirs(path + "/run", exist_ok=True)
        fake = ["env"] + self.faked() if node == "stepped" else []
        self.daemon(self.inside + fake + [
            BIN + "poolscope-agent", "--dir", path, "-p", PARTITION, "-n", node, "--period", "1s",
            "--broker", "ipc://%s/run/aggregator.ipc" % self.dir], node)

    def words(self, what, node):
        agent = "stepped" if node == "stepped" else "node"
        return self.inside + [sys.executable, os.path.abspath(__file__), "--as", what,
                              "--dir", "%s/%s" % (self.tmp, agent), "--node", node,
                              "--base", self.base, "--layer", self.layer, "--place", self.place]

    def start(self):
        self.connect()
        server = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--as", "serve"])
        self.children.append(server)
        self.daemon([BIN + "poolscope-aggregator", "--dir", self.dir, "--listen",
                     "ipc://%s/run/aggregator.ipc" % self.dir], "aggregator")
        self.agent("node")
        if "clock" in self.options.kinds:
            self.agent("stepped")
        while True:
            try:
                socket.create_connection(("10.99.0.1", 8099), 1).close()
                break
            except OSError:
                time.sleep(0.1)

    def stop(self):
        self.freezer.thaw()
        for child in reversed(self.children):
            child.terminate()
            child.wait()

    def dump(self, *options):
        return subprocess.run([BIN + "poolscope-dump", "--dir", self.dir, "-p", PARTITION,
                               *options], check=True, stdout=subprocess.PIPE).stdout

    def record(self, kind, number):
        node = "stepped" if kind == "clock" else "node"
        rng = random.Random("%s %d %d" % (kind, number, self.options.seed))
        self.warm()
        if os.path.exists(self.layer):
            os.unlink(self.layer)
        cause = CAUSES[kind](self, rng)
        self.freezer.freeze()
        try:
            time.sleep(rng.uniform(0.7, 1.2))
            begin = time.time() + (self.shifted if kind == "clock" else 0)
            with cause:
                words = self.words("job", node) + ["--units", str(cause.units)]
                at = words.index(sys.executable)
                words[at:at] = [*cause.words, *cause.before]
                child = subprocess.Popen(words)
                self.children.append(child)
                limit = time.monotonic() + 15
                while child.poll() is None and time.monotonic() < limit:
                    cause.during()
                    self.freezer.sweep()
                    time.sleep(0.02)
                late = child.poll() is None
                if late:
                    child.kill()
                    child.wait()
                self.children.remove(child)
            end = time.time() + (self.shifted if kind == "clock" else 0)
            time.sleep(1.15)
        finally:
            self.freezer.thaw()
        time.sleep(2.2)  # the samples are sent, and indexed
        if late or child.returncode != 0:
            print("%s-%02d: the job %s" % (kind, number, "took too long" if late else "failed"))
            return
        self.keep(kind, number, node, begin, end, cause)

    def keep(self, kind, number, node, begin, end, cause):
        begin, end = begin - 1.6, end + 1.2
        others = b'"node"' if node == "stepped" else b'"stepped"'
        lines = [line for line in self.dump("--from", "%.3f" % begin, "--to", "%.3f" % end)
                 .splitlines() if b'"node": ' + others not in line
                 and b'{"kind": "entity"' not in line]
        name = "%s-%02d" % (kind, number)
        with lzma.open("%s/%s.jsonl.xz" % (self.options.output, name), "wb", preset=9) as out:
            out.write(b"\n".join(lines) + b"\n")
        rows = [row for row in map(json.loads, lines) if row["kind"] == "event" and
                row["node"] == node]
        diffs = {row["name"]: float(m[1]) for row in rows
                 if (m := re.search("diff=([0-9.]+)", row["attributes"].get("message", "")))}
        self.keep_definitions()
        truth = {"name": name, "kind": kind, "node": node,
                 "phase": {"clean": None, "places": "global-resources"}.get(kind, "pull"),
                 "others": None if kind == "cpu" else share_of_others(lines, cause.units),
                 "from": begin, "to": end, "setting": cause.setting, "seconds": diffs}
        with open(self.options.output + "/truth.jsonl", "a", encoding="utf-8") as out:
            out.write(json.dumps(truth, sort_keys=True) + "\n")
        print(time.strftime("%H:%M:%S"), name, cause.setting, diffs, "%d lines" % len(lines),
              "frozen %.0f s" % self.freezer.frozen, flush=True)

    def keep_definitions(self):
        """Of the metric groups, which all nodes have alike."""
        path, rows = self.options.output + "/definitions.jsonl", {}
        if os.path.exists(path):
            return
        for row in map(json.loads, self.dump("--kind", "entity").splitlines()):
            rows[row["id"]] = {name: row[name] for name in ("kind", "entity", "id", "properties")}
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row, sort_keys=True) + "\n" for _, row in sorted(rows.items()))


def record_all(options):
    os.makedirs(options.output, exist_ok=True)
    recorder = Recorder(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        recorder.start()
        for number in range(options.first, options.first + options.count):
            for kind in options.kinds:
                done = os.path.exists("%s/%s-%02d.jsonl.xz" % (options.output, kind, number))
                if recorder.freezer.frozen < options.budget and not done:
                    recorder.record(kind, number)
    finally:
        recorder.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kinds", default=",".join(KINDS), type=lambda text: text.split(","))
    parser.add_argument("--count", default=20, type=int)
    parser.add_argument("--first", default=0, type=int, help="the number of the first recording")
    parser.add_argument("--seed", default=37, type=int)
    parser.add_argument("--freeze", metavar="PATTERN")
    parser.add_argument("--budget", default=1500.0, type=float, help="seconds of freezing")
    parser.add_argument("-o", "--output")
    parser.add_argument("--as", dest="part", choices=("job", "hold", "serve"))
    for name in ("dir", "node", "base", "layer", "place"):
        parser.add_argument("--" + name)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    if options.part:
        {"job": job, "hold": hold, "serve": lambda _: serve()}[options.part](options)
    elif os.environ.get("JUDGE_INSIDE") is None:
        os.environ["JUDGE_INSIDE"] = "1"  # the namespace of the registry
        os.execvp("unshare", ["unshare", "-n", sys.executable] + sys.argv)
    else:
        record_all(options)


if __name__ == "__main__":
    main()
