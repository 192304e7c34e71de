"""A network that does everything a network can do.

Head (aggregator and broker, its listener with keys) and a node with its agent live
in network namespaces; wan.c carries their packets.  While a load of puts runs the link is
cut, loses 30 % (nft), has 64 kbit/s (tbf), resets every connection each 100 ms
(ss -K), takes 200 +- 100 ms each way, brings 5 % of the packets twice, changes
a byte in 1 % of them, and does several of these at once, in random order.  Then
it heals, everything must reach the store, and all is judged.

SECONDS (default 60 / SHARE, 20 at least: that long in all; each minute a new instance) and
SEED from the environment.  Needs root, for namespaces and /dev/net/tun; without
it a line says so.
SPDX-License-Identifier: MIT
"""
import collections
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from judge import judge_journal, of_load
from kill import Stress
from namespaces import PORT, Network, ip, missing
from pool import PARTITION, SLOW, Failed, Instance, Load, main

CYCLE_S = 60
FINE = "5000 1000 0 0 0"
WEATHER = {"slow": "100000 200000 0 0 0", "twice": "20000 5000 0 5 0",
           "changed": "20000 5000 0 0 1", "all": "50000 100000 5 5 1"}


class Link:
    """Between head and node, and what can happen to it."""

    def __init__(self, network):
        self.network = network
        self.head, self.node = network.name("h"), network.name("1")
        network.add("h")
        network.add("1")
        self.endpoint, _ = network.link("1", 0)
        self.wan = network.links[0]
        self.counts = collections.Counter()
        self.be(FINE)

    def ends(self):
        """(namespace, its interface)"""
        return (self.head, self.node), (self.node, self.head)

    def inside(self, space, *words):
        done = subprocess.run(("ip", "netns", "exec", space) + words, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=30 * SLOW)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def must(self, space, *words):
        status, out, error = self.inside(space, *words)
        if status != 0:
            raise Failed("%s: %s" % (" ".join(words), error.strip()))
        return out

    def be(self, weather):
        self.wan.stdin.write(weather.encode() + b"\n")
        self.wan.stdin.flush()

    def cut(self, seconds):
        ip("-n", self.head, "link", "set", self.node, "down")
        time.sleep(seconds)
        ip("-n", self.head, "link", "set", self.node, "up")
        self.counts["cut"] += 1

    def lose(self, seconds):
        for space, _ in self.ends():
            self.must(space, "nft", "add table inet t; add chain inet t in "
                      "{ type filter hook input priority 0; }; add rule inet t in "
                      "numgen random mod 100 < 30 counter drop")
        time.sleep(seconds)
        for space, _ in self.ends():
            found = re.search(r"packets (\d+)", self.must(space, "nft", "list table inet t"))
            self.counts["lost"] += int(found.group(1))
            self.must(space, "nft", "delete table inet t")

    def narrow(self, seconds):
        for space, name in self.ends():
            self.must(space, "tc", "qdisc", "replace", "dev", name, "root", "tbf", "rate", "64kbit",
                      "burst", "4kb", "latency", "400ms")
        time.sleep(seconds)
        for space, name in self.ends():
            self.must(space, "tc", "qdisc", "del", "dev", name, "root")
        self.counts["narrow"] += 1

    def reset(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _, out, _ = self.inside(self.node, "ss", "-H", "-K", "-t", "dst", "10.77.1.1")
            self.counts["reset"] += len(out.splitlines())
            time.sleep(0.1)

    def weather(self, name):
        def happen(seconds):
            self.be(WEATHER[name])
            time.sleep(seconds)
            self.be(FINE)
            self.counts[name] += 1
        return happen

    def close(self):
        """What the link did itself is known when it has ended."""
        self.wan.stdin.close()
        if not select.select([self.wan.stderr], [], [], 30 * SLOW)[0]:
            raise Failed("the link does not end")
        text = self.wan.stderr.read().decode()
        for word in ("passed", "twice", "changed"):
            found = re.search(word + r"=(\d+)", text)
            self.counts["packets " + word] += int(found.group(1)) if found else 0


class Cycle:
    """Everything once, in one instance."""

    def __init__(self, rng):
        self.random = rng
        self.network = Network(rng)
        self.instance = None
        try:
            self.link = Link(self.network)
            self.instance = Instance(
                agent_options=["--broker", self.link.endpoint, "--insecure", "--no-compress",
                               "--segment-bytes", "256KiB", "--spool-bytes", "64MiB"],
                aggregator_options=["--journal-keep", "10d"])
            for name in ("aggregator", "broker", "agent"):
                self.instance.words[name] = [
                    "ip", "netns", "exec", self.network.name("1" if name == "agent" else "h"),
                    "poolscope-" + name]
            self.instance.options["broker"] = ["--listen", "tcp://0.0.0.0:%d" % PORT]
            self.instance.options["agent"] += ["--key", self.instance.dir + "/keys/node.key"]
            self.instance.run("poolscope-keys", "new", "server", "--role", "server")
            self.instance.run("poolscope-keys", "new", "node", "-p", PARTITION, "-n", "node-0")
            self.load = Load(self.instance, rng.getrandbits(32), PARTITION)
            self.instance.start()
        except BaseException:
            self.close()
            raise

    def run(self, oracle, seconds, counts, name):
        link = self.link
        happenings = [link.cut, link.lose, link.narrow, link.reset] + \
            [link.weather(name) for name in WEATHER]
        self.random.shuffle(happenings)
        stress = Stress(self.load, 0.02)
        for happen in happenings:
            happen(seconds / (len(happenings) + 1))
            self.instance.alive()
            time.sleep(seconds / (len(happenings) + 1) / len(happenings))
        stress.end()
        began = time.monotonic()
        self.load.fence(120)
        print("%s: all was stored %.1f s after it healed" % (name, time.monotonic() - began))
        oracle.judge(self.instance, self.load, name)
        judge_journal(oracle, self.instance.dir + "/store", [(of_load, self.load)], name)
        link.close()
        counts.update(link.counts)

    def close(self):
        try:
            if self.instance is not None:
                self.instance.close()
        finally:
            self.network.close()


def test(oracle, seed):
    why = missing()
    for tool in ("nft", "tc", "ss"):
        why = why or (None if shutil.which(tool) else "no " + tool)
    if why is not None:
        print("SKIPPED - no network of our own: %s" % why)
        return
    # Whoever ends this test early gets the namespaces removed, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    share = int(os.environ.get("SHARE", "1"))
    seconds = max(20, int(os.environ.get("SECONDS", CYCLE_S // share)))
    rng = random.Random(seed)
    counts = collections.Counter()
    for number in range(1, max(1, seconds // CYCLE_S) + 1):
        cycle = Cycle(rng)
        try:
            cycle.run(oracle, min(seconds, CYCLE_S), counts, "mix %d" % number)
        except Failed:
            for name in cycle.instance.processes:
                print(name, cycle.instance.tail(name))
            raise
        finally:
            cycle.close()
        if oracle.failed:
            break
    print("happened:", ", ".join("%s %d" % pair for pair in sorted(counts.items())))
    for name in ("cut", "lost", "narrow", "reset", "slow", "packets twice", "packets changed"):
        oracle.check(counts[name] > 0, "it happened: " + name)


if __name__ == "__main__":
    main(test)
