"""Lost, repeated, late and damaged messages both ways between agent and broker.

A proxy of our own (python3-zmq) stands where the broker's listener is.  Messages
of each kind are lost at a rate of their own; some come twice, some so late
that others overtake them.  It goes on until hundreds of batches and hundreds
of acknowledgements were lost, over several lives of the agent, so that hellos
and welcomes are lost as well.  Then no acknowledgement at all comes through
while agents are started again: what the store has of their sessions is sent again,
and kept once.
SPDX-License-Identifier: MIT
"""
import heapq
import random
import threading
import time

import msgpack
import zmq

from pool import SLOW, ACK, BATCH, HELLO, NACK, WELCOME, Failed, Instance, Load, drain, main

KINDS = {HELLO: "hello", WELCOME: "welcome", BATCH: "batch", ACK: "ack", NACK: "nack"}
WANTED = {"hello": 10, "welcome": 10, "batch": 500, "ack": 400, "nack": 200}
RATES = {"hello": (0.2, 0.4), "welcome": (0.2, 0.4), "batch": (0.05, 0.2), "ack": (0.2, 0.4),
         "nack": (0.1, 0.3)}
STREAMS = 8
LIVES = 5
BACKLOG = 64  # batches of a stream that wait
PATIENCE_S = 90 * SLOW


def header(data):
    unpacker = msgpack.Unpacker(raw=False)
    unpacker.feed(data[16:])
    return unpacker.unpack()


def damaged(rng, data):
    """Another byte somewhere, or cut off somewhere."""
    if rng.random() < 0.2:
        return data[:rng.randrange(len(data))]
    where = rng.randrange(len(data))
    return data[:where] + bytes([data[where] ^ rng.randint(1, 255)]) + data[where + 1:]


def waiting(socket):
    """What lies there, and not for ever while more comes."""
    for _ in range(64):
        if not socket.poll(0):
            return
        yield socket.recv_multipart()


class Proxy(threading.Thread):
    def __init__(self, listener, behind, seed):
        super().__init__(daemon=True)
        self.context = zmq.Context()
        self.listener = self.context.socket(zmq.ROUTER)
        self.listener.bind(listener)
        self.behind = behind
        self.poller = zmq.Poller()
        self.poller.register(self.listener, zmq.POLLIN)
        self.lines = {}
        self.late = []  # (when, number, way, peer, data)
        self.asked = {}  # hello's sent_ns: its seq
        self.acked = {}  # partition -> session -> the last number that was acknowledged
        self.random = random.Random(seed)
        self.loss = {kind: self.random.uniform(*rates) for kind, rates in RATES.items()}
        self.repeat, self.delay = 0.1, 0.03
        self.damage = {kind: self.random.uniform(0.01, 0.05) for kind in RATES}
        self.damage["batch"] = self.random.uniform(0.05, 0.15)
        self.passed = dict.fromkeys(WANTED, 0)
        self.lost = dict.fromkeys(WANTED, 0)
        self.twice = self.overtaken = self.ahead = self.damaged = self.others = 0
        self.moved = threading.Event()
        self.going = True

    def heal(self):
        self.loss = dict.fromkeys(WANTED, 0.0)
        self.damage = dict(self.loss)
        self.repeat = self.delay = 0.0

    def line(self, peer):
        """One line to the broker for each peer, as if it were the agent."""
        if peer not in self.lines:
            line = self.context.socket(zmq.DEALER)
            line.linger = 0
            line.connect(self.behind)
            self.poller.register(line, zmq.POLLIN)
            self.lines[peer] = line
        return self.lines[peer]

    def pass_on(self, way, peer, data):
        if way == "up":
            self.line(peer).send(data)
        else:
            self.listener.send_multipart([peer, data])

    def send(self, way, peer, data):
        self.pass_on(way, peer, data)
        if way == "up":
            return
        h = header(data)
        if data[5] == ACK:
            sessions = self.acked.setdefault(h[0], {})
            sessions[h[2]] = max(sessions.get(h[2], 0), h[3])
        if data[5] == WELCOME:
            self.ahead += h[11] > self.asked.get(h[6], h[11])

    def acknowledged(self, partition):
        return sum(list(self.acked.get(partition, {}).values()))

    def take(self, way, peer, data):
        kind = KINDS.get(data[5])
        if kind is None:
            self.others += 1
            return
        if data[5] == HELLO:
            h = header(data)
            self.asked[h[6]] = h[3]
        if self.random.random() < self.loss[kind]:
            self.lost[kind] += 1
            return
        if self.random.random() < self.damage[kind]:
            self.damaged += 1
            self.pass_on(way, peer, damaged(self.random, data))
            return
        self.passed[kind] += 1
        copies = 1
        if self.random.random() < self.repeat:
            self.twice += 1
            copies = 2
        for _ in range(copies):
            if self.random.random() < self.delay:
                self.overtaken += 1
                due = time.monotonic() + self.random.uniform(0.001, 0.05)
                heapq.heappush(self.late, (due, self.overtaken, way, peer, data))
            else:
                self.send(way, peer, data)

    def run(self):
        while self.going:
            wait = 0.1
            if self.late:
                wait = min(wait, max(0.0, self.late[0][0] - time.monotonic()))
            ready = dict(self.poller.poll(int(wait * 1000) + 1))
            if self.listener in ready:
                for peer, data in waiting(self.listener):
                    self.take("up", peer, data)
            for peer, line in list(self.lines.items()):
                if line in ready:
                    for (data,) in waiting(line):
                        self.take("down", peer, data)
            while self.late and self.late[0][0] <= time.monotonic():
                self.send(*heapq.heappop(self.late)[2:])
            self.moved.set()
        self.context.destroy(linger=0)


class World:
    def __init__(self, seed):
        self.instance = Instance(agent_options=["--segment-bytes", "256KiB"])
        listener = "ipc://%s/run/proxy.ipc" % self.instance.dir
        self.instance.options["agent"] += ["--broker", listener]
        self.proxy = Proxy(listener, "ipc://%s/run/broker.ipc" % self.instance.dir, seed)
        self.random = random.Random(seed + 1)
        self.loads = [Load(self.instance, seed + n, "fault$pool-%d" % n) for n in range(STREAMS)]
        self.batches = dict.fromkeys(self.loads, 0)

    def load_until(self, condition):
        """Put events into every stream until it holds.  A put is a batch; no
        stream gets far ahead of what is acknowledged."""
        until = time.monotonic() + PATIENCE_S
        while not condition():
            room = [load for load in self.loads if
                    self.batches[load] < self.proxy.acknowledged(load.partition) + BACKLOG]
            for load in room:
                records = [load.record() for _ in range(self.random.randint(1, 4))]
                self.batches[load] += load.put(records)
            if not room:
                self.proxy.moved.wait(0.1)
                self.proxy.moved.clear()
            if time.monotonic() > until or not self.proxy.is_alive():
                raise Failed("lost in %d s: %s, passed: %s" %
                             (PATIENCE_S, self.proxy.lost, self.proxy.passed))

    def next_life(self):
        self.instance.kill("agent")
        for load in self.loads:
            load.disconnect()
        self.instance.start("agent")
        self.instance.alive()

    def lose_some_of_everything(self):
        lost, passed = self.proxy.lost, self.proxy.passed
        life = 0
        while any(lost[kind] < wanted for kind, wanted in WANTED.items()):
            life += 1
            if life > 10 * LIVES:
                raise Failed("lost in %d lives: %s" % (life, lost))
            share = min(life, LIVES) / LIVES
            welcomes = lost["welcome"] + passed["welcome"] + STREAMS
            self.load_until(lambda: lost["welcome"] + passed["welcome"] >= welcomes and all(
                lost[kind] >= WANTED[kind] * share for kind in ("batch", "ack", "nack")))
            self.next_life()

    def lose_every_ack(self):
        self.proxy.heal()
        self.proxy.loss["ack"] = 1.0
        for _ in range(LIVES):
            # Agents repeat a batch after up to 20 s only: no life waits for that.
            wanted = self.proxy.lost["ack"] + STREAMS // 2
            self.load_until(lambda: self.proxy.lost["ack"] >= wanted)
            self.next_life()

    def close(self):
        self.proxy.going = False
        if self.proxy.is_alive():
            self.proxy.join(5)
        self.instance.close()


def test(oracle, seed):
    world = World(seed)
    proxy = world.proxy
    try:
        world.instance.start("aggregator", "broker")
        print("loss", {kind: round(rate, 2) for kind, rate in proxy.loss.items()})
        proxy.start()
        world.instance.start("agent")
        world.lose_some_of_everything()
        lost, ahead = dict(proxy.lost), proxy.ahead
        print("lost", lost, "passed", proxy.passed, "twice", proxy.twice,
              "late", proxy.overtaken, "damaged", proxy.damaged, "ahead", ahead)
        world.lose_every_ack()
        print("lost", proxy.lost, "passed", proxy.passed, "ahead", proxy.ahead)
        proxy.heal()
        for load in world.loads:
            load.disconnect()
            drain(world.instance, PATIENCE_S, load.partition)
        for load in world.loads:
            oracle.judge(world.instance, load, load.partition)
        for kind, count in WANTED.items():
            oracle.check(lost[kind] >= count, "%d messages of kind %s were lost" % (count, kind), lost)
        oracle.check(proxy.twice >= 100, "messages were repeated", proxy.twice)
        oracle.check(proxy.overtaken >= 50, "messages came late", proxy.overtaken)
        oracle.check(proxy.others == 0, "nothing is given up", proxy.others)
        oracle.check(proxy.damaged >= 30, "messages were damaged", proxy.damaged)
        oracle.check(proxy.ahead > ahead, "welcomes reported what no acknowledgement did",
                     (ahead, proxy.ahead))
    finally:
        world.close()


main(test)
