"""clean_pools - the events of starts of pools in which nothing is wrong, as rows of cascade.

Usage: clean_pools.py SEED POOLS NODES WORLD > FILE

Each node is prepared, takes three images from its peers and loads them, one after the
other.  Times are lognormal around a median of each phase, with a spread of the pool's
own: its standard deviation is from 5 to 20 % in each phase.  Nodes begin within 120 s.
WORLD: even: that is all; rough: in each phase a node in a hundred takes up to 30 %
longer, by chance; hosts: a node is up to 5 % slower or faster than others in all that it
does.  No node is slow in a way that another could not be next time.  The partitions are
clean$0, clean$1 ...
SPDX-License-Identifier: MIT
"""

import json
import math
import random
import sys

IMAGES = {"app": 25, "base": 60, "tf": 95}


def main(seed, pools, nodes, world):
    draw = random.Random("%s %s" % (seed, world))
    for pool in range(pools):
        spread = {}

        def took(phase, median, node):
            sigma = spread.setdefault(phase, draw.uniform(0.05, 0.2))
            factor = math.exp(draw.gauss(0, sigma))
            if world == "rough" and draw.random() < 0.01:
                factor *= draw.uniform(1, 1.3)
            return median * factor * speed[node]

        speed = [draw.uniform(0.95, 1.05) if world == "hosts" else 1 for _ in range(nodes)]
        for node in range(nodes):
            now = 1700000000 + draw.uniform(0, 120)

            def event(name, message=""):
                json.dump({"PartitionKey": "clean$%d" % pool, "RowKey": "%.6f" % now, "Event": name,
                           "NodeId": "n%d" % node, "Message": message}, sys.stdout)
                print()

            event("nodeprep:start")
            now += took("docker", 20, node)
            event("privateregistry:start")
            now += took("registry", 12, node)
            event("privateregistry:end")
            now += took("rest", 15, node)
            event("nodeprep:end")
            event("cascade:start")
            for image, median in IMAGES.items():
                event("cascade:torrent-start", "img=" + image)
                now += took("torrent " + image, median, node)
                event("cascade:load-start", "img=" + image)
                now += took("load " + image, 16, node)
                event("cascade:load-end", "img=" + image)
            event("cascade:gr-done")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
