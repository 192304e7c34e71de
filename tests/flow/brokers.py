"""Several brokers: agents fail over, and brokers stand behind brokers.

FAILOVERS (default 3): how often the broker in use is killed under load.
SPDX-License-Identifier: MIT
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
from judge import judge_journal  # noqa: E402
from pool import Failed, Instance, Load, drain, main, wait_until  # noqa: E402


def broker(instance, name, up, listen=None):
    """One more broker of the instance; returns its door."""
    door = "ipc://%s/run/%s.ipc" % (instance.dir, listen or name)
    instance.words[name] = ["poolscope-broker"]
    instance.options[name] = ["--node", name, "--listen", door, "--aggregator", up]
    return door


def find(event):
    return (event[4]["number"], event[4]["payload"]) if "number" in event[4] else None


def judge(oracle, instance, load, name):
    oracle.judge(instance, load, name)
    judge_journal(oracle, instance.dir + "/store", [(find, load)], name)


def said(instance, words):
    with open(instance.dir + "/log/agent.log") as log:
        return sum(words in line for line in log)


def failover(oracle, seed):
    kills = int(os.environ.get("FAILOVERS", "3"))
    instance = Instance(aggregator_options=["--journal-keep", "10d"])
    names = ["first", "second", "third"]
    for name in names:
        door = broker(instance, name, "ipc://%s/run/intake.ipc" % instance.dir)
        instance.options["agent"] += ["--broker", door]
    try:
        load = Load(instance, seed)
        instance.start("aggregator", *names)
        instance.start("agent")
        load.burst(0.3)
        for kill in range(kills):
            victim = names[kill % 3]
            instance.kill(victim)
            load.burst(0.3)
            wait_until(lambda k=kill: said(instance, " answers (") > k, 30, "another broker")
            # It is back; nobody goes back to it.
            instance.start(victim)
            load.burst(0.5)
        drain(instance)
        oracle.check(said(instance, ": trying ") == kills,
                     "each kill moved the agent once, and nothing else did",
                     instance.tail("agent"))
        judge(oracle, instance, load, "after %d failovers" % kills)
        # All of them are gone for a while: the spool keeps, and one comes back.
        for name in names:
            instance.kill(name)
        load.burst(0.3)
        instance.start("second")
        drain(instance)
        judge(oracle, instance, load, "after an outage of all brokers")
        oracle.check(len(load.accepted) > 20 * kills, "the load was a load", len(load.accepted))
    finally:
        instance.close()


def tree(oracle, seed):
    """agent - leaf - branch - root - aggregator."""
    instance = Instance(aggregator_options=["--journal-keep", "10d"])
    try:
        up = "ipc://%s/run/intake.ipc" % instance.dir
        doors = {}
        for name in ("root", "branch", "leaf"):
            up = doors[name] = broker(instance, name, up)
        instance.options["agent"] += ["--broker", up]
        load = Load(instance, seed)
        instance.start("aggregator", "root", "branch", "leaf", "agent")
        load.burst(0.5)
        for name in ("root", "branch", "leaf"):
            load.burst(0.2)
            instance.kill(name)
            load.burst(0.2)
            instance.start(name)
        drain(instance)
        judge(oracle, instance, load, "through three levels of brokers, each killed once")
        for name, door in doors.items():
            done = subprocess.run(["/usr/bin/python3", HERE + "/peer.py", "status", door, name],
                                  capture_output=True)
            oracle.check(done.returncode == 0, "broker %s tells its own status" % name, done.stderr)
    finally:
        instance.close()


def too_many(oracle):
    options = []
    for i in range(9):
        options += ["--broker", "ipc:///tmp/none%d" % i]
    instance = Instance()
    try:
        done = instance.run("poolscope-agent", *options, check=False)
        oracle.check(done.returncode == 1 and b"--broker: more than 8" in done.stderr,
                     "nine brokers are too many, which is said", done.stderr)
    finally:
        instance.close()


def test(oracle, seed):
    failover(oracle, seed)
    tree(oracle, seed)
    too_many(oracle)


if __name__ == "__main__":
    main(test)
