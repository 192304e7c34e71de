#!/usr/bin/python3
"""mutant - a broker that drops, repeats, reorders, damages and swaps.

Usage: mutant.py --ready-fd N LISTENER INTAKE SEED COUNTS: between agents and an
aggregator until it is ended; what it did goes into COUNTS.  It heals when the
file COUNTS.heal is there.  With SEED "none" it only listens: what came down is
appended to COUNTS.
SPDX-License-Identifier: MIT
"""

import os
import random
import sys

import zmq

from raw import SLOW  # noqa: F401 (its path)


class Mutant:
    def __init__(self, listener, intake, seed, path):
        context = zmq.Context()
        self.listener, self.line = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
        for s in (self.listener, self.line):
            s.linger = 0
        self.listener.bind(listener)
        self.line.connect(intake)
        self.rng = random.Random(seed)
        self.listens = seed == "none"
        self.path = path
        self.held = {"up": [], "down": []}
        self.counts = dict.fromkeys(("passed", "dropped", "repeated", "reordered", "damaged", "swapped"), 0)
        self.peers, self.deck = [], []

    def out(self, way, frames):
        if self.listens and way == "down":
            with open(self.path, "ab") as f:
                f.write(frames[-1])
        (self.line if way == "up" else self.listener).send_multipart(frames)

    def harm(self, way, frames):
        # Of twelve messages one each, in any order: also where there are few.
        if not self.deck:
            self.deck = self.rng.sample(range(12), 12)
        what = self.deck.pop()
        if what == 0:
            self.counts["dropped"] += 1
        elif what == 1:
            self.counts["repeated"] += 1
            for _ in range(self.rng.randrange(2, 5)):
                self.out(way, frames)
        elif what == 2:
            self.counts["reordered"] += 1
            self.held[way].append(frames)
        elif what == 3:
            self.counts["damaged"] += 1
            data = bytearray(frames[-1])
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
            self.out(way, frames[:-1] + [bytes(data)])
        elif what == 4 and way == "down" and len(self.peers) > 1:
            self.counts["swapped"] += 1
            self.out(way, [self.rng.choice([p for p in self.peers if p != frames[0]])] + frames[1:])
        else:
            self.counts["passed"] += 1
            self.out(way, frames)

    def turn(self, way, frames):
        if frames[0] not in self.peers:
            self.peers = (self.peers + [frames[0]])[-16:]
        if self.listens or os.path.exists(self.path + ".heal"):
            self.out(way, frames)
        else:
            self.harm(way, frames)
        if self.held[way] and (self.rng.randrange(4) == 0 or len(self.held[way]) > 8):
            self.rng.shuffle(self.held[way])
            for late in self.held[way]:
                self.out(way, late)
            self.held[way] = []
        if not self.listens:
            with open(self.path + ".new", "w") as f:
                f.write(" ".join("%s=%d" % item for item in self.counts.items()) + "\n")
            os.replace(self.path + ".new", self.path)

    def run(self):
        poller = zmq.Poller()
        poller.register(self.listener, zmq.POLLIN)
        poller.register(self.line, zmq.POLLIN)
        while True:
            for s, _ in poller.poll():
                self.turn("up" if s is self.listener else "down", s.recv_multipart())


def main():
    ready = int(sys.argv[2])
    mutant = Mutant(*sys.argv[3:])
    os.write(ready, b"\n")
    os.close(ready)
    mutant.run()


main()
