"""kill -9 at random points on agent, broker and aggregator under load.

ROUNDS (default 200) and SEED from the environment.
SPDX-License-Identifier: MIT
"""
import os
import random

from pool import Instance, Load, drain, main


def test(oracle, seed):
    rounds = int(os.environ.get("ROUNDS", "200"))
    rng = random.Random(seed)
    # Small segments, so that the spool changes them under fire.
    instance = Instance(agent_options=["--segment-bytes", "256KiB", "--spool-bytes", "32MiB"])
    load = Load(instance, seed)
    try:
        instance.start()
        for number in range(rounds):
            load.burst(rng.uniform(0.01, 0.12))
            victims = rng.sample(["aggregator", "broker", "agent"], rng.choice((1, 1, 1, 2, 3)))
            for victim in victims:
                instance.kill(victim)
            if rng.random() < 0.3:
                load.burst(0.03)  # while they are gone
            instance.start(*sorted(victims, key=["aggregator", "broker", "agent"].index))
            instance.alive()
            if (number + 1) % 100 == 0 or number + 1 == rounds:
                load.drop()
                drain(instance)
                oracle.judge(instance, load, "after %d rounds" % (number + 1))
        oracle.check(len(load.accepted) > rounds * 5, "the load was a load", len(load.accepted))
    finally:
        instance.close()


main(test)
