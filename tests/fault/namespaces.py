"""One timeline of nodes that have a network and a clock of their own.

Head and three nodes live in network namespaces.  Each node reaches the broker
over a link of its own (wan.c) that delays packets, each way by another time,
lets one overtake another and loses some.  Agents and poolscope-emit live by
libfaketime: a node's clock is ahead or behind by seconds to weeks, and one is
set while its agent runs.  The shift is exact, so that the time that an event
was stamped with says when it truly was; the test's own clock, looked at before
and after, says that it really was shifted.  In the end every event must be
shown within the stated error of the truth.

Needs root, for namespaces and /dev/net/tun; without it a line says so and
nothing is counted.
SPDX-License-Identifier: MIT
"""
import glob
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time

from clocks import S, judge, last_reports, steps_reported, ticks
from pool import PARTITION, SLOW, Failed, Instance, main, wait_until

SHARE = int(os.environ.get("SHARE", "1"))
RUNS = max(1, 4 // SHARE)
EVENTS = max(4, 12 // SHARE)  # of each node and part of a run
NODES = 3
PORT = 5571
WAN = "%s/../../%s/fault/wan" % (os.path.dirname(os.path.abspath(__file__)),
                                os.environ.get("B", "build"))
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
# Quarters of seconds: libfaketime takes them as they are.
FIRST = (37 * S, -2 * 3600 * S, 3 * 86400 * S)


def ip(*words):
    done = subprocess.run(("ip",) + words, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=30 * SLOW)
    if done.returncode != 0:
        raise Failed("ip %s: %s" % (" ".join(words), done.stderr.decode().strip()))


def missing():
    """Why this cannot be done here, or None."""
    if shutil.which("ip") is None:
        return "no ip"
    if not FAKETIME:
        return "no libfaketime"
    name = "ps%d-p" % os.getpid()
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
        ip("netns", "add", name)
        ip("netns", "del", name)
    except (OSError, Failed) as error:
        return str(error)
    return None


class Network:
    """A head, and nodes at the far ends of links."""

    def __init__(self, rng):
        self.random = rng
        self.spaces, self.links = [], []

    def name(self, which):
        return "ps%d-%s" % (os.getpid(), which)

    def add(self, which):
        ip("netns", "add", self.name(which))
        self.spaces.append(self.name(which))
        ip("-n", self.name(which), "link", "set", "lo", "up")

    def link(self, which, loss_max=5):
        """Returns the endpoint of head as this node sees it, and the shortest
        that a round trip can be."""
        head, node = self.name("h"), self.name(which)
        there, back, jitter = (self.random.randint(0, most) for most in (40000, 40000, 5000))
        loss = self.random.uniform(0, loss_max)
        process = subprocess.Popen(
            [WAN, head, node, "%d:%d" % (there, back), str(jitter), "%.2f" % loss,
             str(self.random.getrandbits(31))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.links.append(process)
        if not select.select([process.stdout], [], [], 30 * SLOW)[0] or \
                process.stdout.readline() != b"ready\n":
            raise Failed("no link between %s and %s" % (head, node))
        print("link %s: %d us there, %d us back, up to %d us more, %.2f %% lost" %
              (which, there, back, jitter, loss))
        ends = "10.77.%s.1" % which, "10.77.%s.2" % which
        ip("-n", head, "addr", "add", ends[0], "peer", ends[1], "dev", node)
        ip("-n", node, "addr", "add", ends[1], "peer", ends[0], "dev", head)
        ip("-n", head, "link", "set", node, "up")
        ip("-n", node, "link", "set", head, "up")
        return "tcp://%s:%d" % (ends[0], PORT), (there + back) * 1000

    def close(self):
        for process in self.links:
            if not process.stdin.closed:
                process.stdin.close()
            try:
                process.wait(timeout=30 * SLOW)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            process.stderr.close()
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], timeout=30 * SLOW, check=False)


class Node:
    def __init__(self, instance, network, number, shift):
        self.network, self.which = network, str(number)
        self.name = "node-" + self.which
        self.shift_file = "%s/%s.shift" % (instance.dir, self.name)
        self.socket_path = "%s/%s.sock" % (instance.dir, self.name)
        self.set(shift)
        self.sent = {}  # number: shift, true times before and after
        self.truth = {}
        network.add(self.which)
        endpoint, self.least_ns = network.link(self.which)
        instance.words[self.name] = self.words("poolscope-agent")
        instance.options[self.name] = [
            "-p", PARTITION, "-n", self.name, "--no-samples", "--send-interval", "100ms",
            "--spool", "%s/%s.spool" % (instance.dir, self.name),
            "--fallback", "%s/%s.fallback" % (instance.dir, self.name),
            "--socket", self.socket_path, "--broker", endpoint, "--insecure"]

    def set(self, shift):
        """From now on, also for who runs already."""
        self.shift = shift
        with open(self.shift_file + ".new", "w") as file:
            file.write("%s%d.%02d\n" % (("-" if shift < 0 else "+"), abs(shift) // S,
                                        abs(shift) % S // (S // 100)))
        os.rename(self.shift_file + ".new", self.shift_file)

    def words(self, program):
        """The program, in this node's network and by its clock.  The address
        sanitizer wants to be loaded first, but can be talked to."""
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return ["ip", "netns", "exec", self.network.name(self.which), "env",
                "LD_PRELOAD=" + FAKETIME[0], "ASAN_OPTIONS=" + asan,
                "FAKETIME_TIMESTAMP_FILE=" + self.shift_file, "FAKETIME_NO_CACHE=1",
                "FAKETIME_DONT_FAKE_MONOTONIC=1", program]

    def emit(self):
        number = len(self.sent)
        before = time.time_ns()
        process = subprocess.Popen(
            self.words("poolscope-emit") + ["-p", PARTITION, "--socket", self.socket_path,
                                            "--attr", "number=%d" % number, "test", "tick"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, stderr = process.communicate(timeout=60 * SLOW)
        finally:
            process.kill()
            process.wait()
            forget(process.pid)
        if process.returncode != 0:
            raise Failed("%s: %s" % (self.name, stderr.decode()[-2000:]))
        self.sent[number] = (self.shift, before, time.time_ns())

    def learn(self, rows):
        """The truth of what is stored; returns what cannot be."""
        wrong = []
        for row in rows:
            number, raw = int(row["attributes"]["number"]), row["time_ns"]
            shift, before, after = self.sent[number]
            self.truth[number] = (raw - shift, raw)
            if not before <= raw - shift <= after:
                wrong.append((self.name, number, raw - shift - before))
        return wrong


def forget(pid):
    """What libfaketime leaves behind of a process that was killed."""
    for name in ("faketime_shm_%d", "sem.faketime_sem_%d"):
        try:
            os.unlink("/dev/shm/" + name % pid)
        except FileNotFoundError:
            pass


def any_shift(rng):
    quarters = max(1, int(4 * 10 ** rng.uniform(-0.5, 6.5)))
    return rng.choice((1, -1)) * quarters * (S // 4)


def emit_all(nodes, rng):
    for _ in range(EVENTS):
        for node in nodes:
            node.emit()
        time.sleep(rng.uniform(0, 0.08))


def traced(instance):
    """The times of the ticks in a trace, by node and number."""
    path = instance.dir + "/ticks.json"
    instance.run("poolscope-trace", "-q", "-p", PARTITION, "--clock", "corrected", "-o", path)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, parse_float=exact, parse_int=exact)
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"]
             if e["ph"] == "M" and e["name"] == "process_name"}
    base = int(trace["otherData"]["base_ns"])
    return {(names[e["pid"]], int(e["args"]["number"])): base + e["ts"]
            for e in trace["traceEvents"] if e["ph"] == "i" and "number" in e["args"]}


def exact(micros):
    """Microseconds with up to three decimals, as nanoseconds."""
    whole, _, part = micros.partition(".")
    return int(whole + part.ljust(3, "0"))


def judge_run(instance, nodes, oracle, name):
    rows = ticks(instance, "--clock", "raw")
    wrong = []
    for node in nodes.values():
        wrong += node.learn([row for row in rows if row["node"] == node.name])
    oracle.check(rows and not wrong, name + ": raw times are those of the shifted clocks", wrong[:5])
    judge(instance, nodes, oracle, name)
    corrected = {(row["node"], int(row["attributes"]["number"])): row["time_ns"]
                 for row in ticks(instance, "--clock", "corrected")}
    oracle.check(traced(instance) == corrected and corrected,
                 name + ": a trace has the corrected times")
    judge_clocks(last_reports(instance), nodes, oracle, name)


def judge_clocks(clocks, nodes, oracle, name):
    wrong = [row for row in clocks.values()
             if abs(row["offset"] * S + nodes[row["node"]].shift) > row["error"] * S]
    oracle.check(set(clocks) == set(nodes) and not wrong,
                 name + ": each clock is off by what is reported, within the error", wrong)
    short = [row for row in clocks.values()
             if row["round_trip"] * S < nodes[row["node"]].least_ns]
    oracle.check(not short, name + ": no round trip is shorter than its link", short)
    stepped = {row["node"] for row in clocks.values() if row["steps"] > 0}
    oracle.check(stepped == {"node-%d" % NODES},
                 name + ": the clock that was set has stepped, and no other", stepped)


def run(oracle, number, rng):
    instance, network, nodes = Instance(), Network(rng), {}
    try:
        network.add("h")
        for i in range(1, NODES + 1):
            shift = FIRST[i - 1] if number == 1 else any_shift(rng)
            node = Node(instance, network, i, shift)
            nodes[node.name] = node
        for name in ("aggregator", "broker"):
            instance.words[name] = ["ip", "netns", "exec", network.name("h"), "poolscope-" + name]
        instance.options["broker"] = ["--listen", "tcp://0.0.0.0:%d" % PORT, "--insecure"]
        instance.start("aggregator", "broker", *nodes)
        every = list(nodes.values())
        emit_all(every, rng)
        steps_reported(instance, {name: 0 for name in nodes})
        every[-1].set(any_shift(rng))
        emit_all(every, rng)
        steps_reported(instance, {every[-1].name: 1})
        for node in every:
            node.emit()
        wait_until(lambda: len(ticks(instance)) == sum(len(n.sent) for n in every), 30,
                   "every event to be stored")
        instance.alive()
        judge_run(instance, nodes, oracle, "run %d" % number)
    except Failed:
        for name in instance.processes:
            print(name, instance.tail(name))
        raise
    finally:
        pids = [process.pid for process in instance.processes.values()]
        try:
            instance.close()
        finally:
            network.close()
            for pid in pids:
                forget(pid)


def test(oracle, seed):
    why = missing()
    if why is not None:
        print("not run: no nodes in network namespaces (%s)" % why)
        return
    # Whoever ends this test early gets the namespaces removed, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    rng = random.Random(seed)
    for number in range(1, RUNS + 1):
        run(oracle, number, rng)


if __name__ == "__main__":
    main(test)
