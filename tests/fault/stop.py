"""A stopped aggregator, a stopped broker, and TERM under load.

SPDX-License-Identifier: MIT
"""
import signal

from pool import Instance, Load, drain, main


def test(oracle, seed):
    instance = Instance(agent_options=["--segment-bytes", "256KiB", "--spool-bytes", "64MiB"])
    load = Load(instance, seed)
    try:
        instance.start()
        for name in ("aggregator", "broker"):
            load.burst(0.3)
            instance.signal(name, signal.SIGSTOP)
            before = len(load.accepted)
            load.burst(2.5)
            oracle.check(len(load.accepted) > before + 100,
                         "the agent goes on accepting while the %s is stopped" % name,
                         len(load.accepted) - before)
            instance.signal(name, signal.SIGCONT)
            load.burst(0.3)
            drain(instance)
            oracle.judge(instance, load, "%s stopped and continued" % name)
        for name in ("agent", "broker", "aggregator"):
            load.burst(0.2)
            status = instance.kill(name, signal.SIGTERM)
            oracle.check(status == 0, "TERM ends the %s with status 0" % name, status)
            load.burst(0.05)
            instance.start(name)
        load.drop()
        drain(instance)
        oracle.judge(instance, load, "after TERM of each")
    finally:
        instance.close()


main(test)
