"""pools - a pool of any size of which every kind of picture can be drawn.

Usage: pools.py NODES [SAMPLES]

Prints the records of NODES nodes in the language of tests/scenario/records.py, always
the same: their start-up (model cascade), the phases of a deployment (model deploy,
deploy.conf), jobs, SAMPLES samples of processors and memory (20), and as many test runs as
nodes.  Names of nodes are as long as those of cloud pools and differ in the middle;
the first has every character that may be trouble, the second is very long.
SPDX-License-Identifier: MIT
"""

import random
import sys

GIB = 1 << 30
PERIOD = 10
GROUP = ("cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter "
         "system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
MEMORY = "memory system.memory.usage.used:By:gauge"


def name(i, nodes):
    if nodes > 2 and i == 0:
        return "a%b{c}_d^e@f&g~h`i\\j$k"
    if nodes > 2 and i == 1:
        return "long-" + "0123456789" * 12
    return "tvm-1392786944_%d-20171014t165320z-autoscaled-p" % i


def startup(rng, start, node, image):
    at = start
    for event, more in (("nodeprep:start", 30), ("shipyard:pull-start", 15), ("shipyard:pull-end", 2),
                        ("nodeprep:end", 5), ("cascade:start", 1)):
        yield at, "event", node, event
        at += more * rng.uniform(0.7, 1.6)
    for number in range(image):
        key = "img=registry/image:%d" % number
        yield at, "event", node, "cascade:pull-start", key, "size=%d" % (number * 700000000 + 9)
        at += (number + 1) * 20 * rng.lognormvariate(0, 0.5)
        yield at, "event", node, "cascade:pull-end", key
        at += 0.5
    yield at, "event", node, "cascade:gr-done"


def deployment(rng, start, node):
    at = start
    yield at, "event", node, "deploy:begin"
    for step, mean in (("fetch", 20), ("verify", 0.3), ("install", 120), ("restart", 5)):
        yield at, "event", node, "deploy:%s-start" % step
        at += mean * rng.lognormvariate(0, 0.7)
        yield at, "event", node, "deploy:%s-end" % step
        at += rng.uniform(0, 10)
    yield at, "event", node, "deploy:done"
    yield start + 5, "event", node, "job:start", "job=j%d" % rng.randrange(5)


def run(rng, start, number):
    at = start
    label = "run=%d" % number
    for event, mean in (("request", 1), ("queue_start", 60), ("queue_end", 1), ("flash_start", 90),
                        ("flash_end", 1), ("boot_start", 30), ("boot_end", 1), ("test_start", 400),
                        ("test_end", 3), ("publish", 0)):
        yield at, "event", "farm", "run:" + event, label
        at += mean * rng.lognormvariate(0, 0.4)


def samples(rng, node, count, boot):
    used, idle = 0, 0
    rate = rng.uniform(0, 4)
    for i in range(count):
        at = 3 + i * PERIOD + rng.uniform(0, 1)
        yield at, "sample", node, "cpu", boot, int(used), int(idle), 4
        yield at, "sample", node, "memory", int(GIB * (1 + rate) * rng.uniform(0.8, 1.2))
        now = min(4, max(0, rate * rng.uniform(0.5, 1.5)))
        used += now * 100 * PERIOD
        idle += (4 - now) * 100 * PERIOD


def main():
    nodes = int(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(nodes)
    records = []
    for i in range(nodes):
        node = name(i, nodes)
        print("group", node, GROUP)
        print("group", node, MEMORY)
        start = rng.uniform(0, 60)
        for part in (startup(rng, start, node, 2), deployment(rng, start + 5, node),
                     samples(rng, node, count, i + 1), run(rng, i * 7000.0, i + 1)):
            records += part
    records.sort(key=lambda record: (record[0], record[2]))
    for at, kind, *words in records:
        print(kind, "%.3f" % at, *words)
    for i in range(nodes):
        error = " error=timeout" if i % 7 == 3 else ""
        print("entity farm run %d run=%d device_group=board-%d%s" % (i + 1, i + 1, i % 70, error))


main()
