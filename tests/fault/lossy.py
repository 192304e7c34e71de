"""Lost, repeated and delayed messages both ways between agent and broker.

A proxy of our own (python3-zmq) stands where the broker's door is.
SPDX-License-Identifier: MIT
"""
import random
import threading

import zmq

from pool import ACK, Instance, Load, drain, main


class Proxy(threading.Thread):
    def __init__(self, door, behind, seed):
        super().__init__(daemon=True)
        self.context = zmq.Context()
        self.door = self.context.socket(zmq.ROUTER)
        self.door.bind(door)
        self.behind_endpoint = behind
        self.random = random.Random(seed)
        self.lines = {}
        self.counts = {"up": 0, "down": 0, "lost": 0, "twice": 0, "acks lost": 0}
        self.loss = 0.2
        self.going = True

    def line(self, peer):
        """One line to the broker for each peer, as if it were the agent."""
        if peer not in self.lines:
            line = self.context.socket(zmq.DEALER)
            line.linger = 0
            line.connect(self.behind_endpoint)
            self.lines[peer] = line
        return self.lines[peer]

    def copies(self, data, way):
        self.counts[way] += 1
        dice = self.random.random()
        if dice < self.loss:
            self.counts["lost"] += 1
            if data[5] == ACK:
                self.counts["acks lost"] += 1
            return 0
        if dice < self.loss + 0.1:
            self.counts["twice"] += 1
            return 2
        return 1

    def run(self):
        while self.going:
            poller = zmq.Poller()
            poller.register(self.door, zmq.POLLIN)
            for line in self.lines.values():
                poller.register(line, zmq.POLLIN)
            ready = dict(poller.poll(100))
            if self.door in ready:
                peer, data = self.door.recv_multipart()
                for _ in range(self.copies(data, "up")):
                    self.line(peer).send(data)
            for peer, line in list(self.lines.items()):
                if line in ready:
                    data = line.recv()
                    for _ in range(self.copies(data, "down")):
                        self.door.send_multipart([peer, data])
        self.context.destroy(linger=0)


def test(oracle, seed):
    instance = Instance()
    door = "ipc://%s/run/proxy.ipc" % instance.dir
    instance.options["agent"] += ["--broker", door]
    proxy = Proxy(door, "ipc://%s/run/broker.ipc" % instance.dir, seed)
    load = Load(instance, seed)
    try:
        instance.start("aggregator", "broker")
        proxy.start()
        instance.start("agent")
        load.burst(6)
        proxy.loss = 0.0  # heal, then everything must arrive
        drain(instance, 180)
        oracle.judge(instance, load, "with every fifth message lost")
        print(proxy.counts)
        oracle.check(proxy.counts["acks lost"] > 0, "acknowledgements were lost", proxy.counts)
        oracle.check(proxy.counts["twice"] > 0, "messages were repeated", proxy.counts)
    finally:
        proxy.going = False
        proxy.join(5)
        instance.close()


main(test)
