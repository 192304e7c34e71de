"""Several brokers: agents fail over, and brokers stand behind brokers.

FAILOVERS (default 3): how often the broker in use is killed under load.
SPDX-License-Identifier: MIT
"""
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
from judge import judge_journal  # noqa: E402
from pool import Instance, Load, counted, drain, main, wait_until  # noqa: E402


def broker(instance, name, up, listen=None):
    """One more broker of the instance; returns its listener."""
    listener = "ipc://%s/run/%s.ipc" % (instance.dir, listen or name)
    instance.words[name] = ["poolscope-broker"]
    instance.options[name] = ["--node", name, "--listen", listener, "--aggregator", up]
    return listener


def find(event):
    return (event[4]["number"], event[4]["payload"]) if "number" in event[4] else None


def judge(oracle, instance, load, name):
    oracle.judge(instance, load, name)
    judge_journal(oracle, instance.dir + "/store", [(find, load)], name)


def logged(instance, words):
    with open(instance.dir + "/log/agent.log") as log:
        return sum(words in line for line in log)


def failover(oracle, seed):
    kills = int(os.environ.get("FAILOVERS", "3"))
    instance = Instance(aggregator_options=["--journal-keep", "10d"])
    names = ["first", "second", "third"]
    for name in names:
        listener = broker(instance, name, "ipc://%s/run/intake.ipc" % instance.dir)
        instance.options["agent"] += ["--broker", listener]
    try:
        load = Load(instance, seed)
        instance.start("aggregator", *names)
        instance.start("agent")
        load.burst(0.3)
        for kill in range(kills):
            victim = names[kill % 3]
            instance.kill(victim)
            load.burst(0.3)
            wait_until(lambda k=kill: logged(instance, " answers (") > k, 30, "another broker")
            # It is back; nobody goes back to it.
            instance.start(victim)
            load.burst(0.5)
        drain(instance)
        oracle.check(logged(instance, ": trying ") == kills,
                     "each kill moved the agent once, and nothing else did",
                     instance.tail("agent"))
        judge(oracle, instance, load, "after %d failovers" % kills)
        # All of them are gone for a while: the spool retains, and one comes back.
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
        listeners = {}
        for name in ("root", "branch", "leaf"):
            up = listeners[name] = broker(instance, name, up)
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
        for name, listener in listeners.items():
            done = subprocess.run(["/usr/bin/python3", HERE + "/peer.py", "status", listener, name],
                                  capture_output=True)
            oracle.check(done.returncode == 0, "broker %s reports its own status" % name, done.stderr)
    finally:
        instance.close()


def counter(instance, listener, name):
    """A counter of a broker's status."""
    return counted(instance, "broker", name, options=("--connect", listener))


def table(oracle, seed):
    """A broker follows the partition table, and no wrong one."""
    instance = Instance(aggregator_options=["--accept", "fault$*", "--journal-keep", "10d"])
    path, log = instance.dir + "/partitions", instance.dir + "/log/broker.log"
    intake = "ipc://%s/run/intake.ipc" % instance.dir
    nobody = "ipc://%s/run/nobody.ipc" % instance.dir

    def put(text):
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def logs(words):
        with open(log) as file:
            return any(words in line for line in file)

    def rows(version, *rows):
        return "poolscope-partitions 1\nversion %d\n%s" % (
            version, "".join("%s\t%s\n" % row for row in rows))
    instance.options["broker"] = ["--aggregator", ""]
    try:
        load = Load(instance, seed)
        put(rows(3, ("fault$*", nobody)))
        instance.start()
        load.burst(0.2)
        put(rows(4, ("fault$*", nobody), ("no tab", "")))
        wait_until(lambda: logs("keeping the previous partition table: %s:4: the endpoint is empty" % path), 20,
                   "a word about the wrong table")
        put(rows(2, ("fault$*", intake)))
        wait_until(lambda: logs("version 2 is older than version 3"), 20, "a word about the old table")
        oracle.check(True, "a wrong table and an old one are logged and not followed")
        done = instance.run("poolscope-emit", "-p", load.partition, "test", "fence", "--wait",
                            "stored", "--timeout", "300ms", check=False)
        oracle.check(done.returncode != 0, "nothing arrives where nobody is")
        put(rows(5, ("fault$*", intake), ("other$*", intake)))
        drain(instance)
        judge(oracle, instance, load, "behind a table that was replaced")
        # The aggregator knows better than a table what it accepts.
        instance.run("poolscope-emit", "-p", "other$pool", "test", "astray")
        listener = "ipc://%s/run/broker.ipc" % instance.dir
        wait_until(lambda: counter(instance, listener, "owner_elsewhere") > 0, 20, "an answer \"owner\"")
        rows_stored = instance.run("poolscope-dump", "-p", "other$pool", "--format", "jsonl").stdout
        oracle.check(rows_stored == b"", "what the table sends astray is not stored", rows_stored)
        oracle.check(counter(instance, listener, "table_version") == 5, "the status reports the version")
        put(rows(1, ("fault$*", nobody)))
        instance.signal("broker", signal.SIGHUP)
        wait_until(lambda: logs("version 1 is older than version 5"), 20, "a word about the old table")
        load.burst(0.2)
        drain(instance)
        judge(oracle, instance, load, "behind a table that SIGHUP did not take")
    finally:
        instance.close()


def too_many(oracle):
    options = []
    for i in range(9):
        options += ["--broker", "ipc:///tmp/none%d" % i]
    instance = Instance()
    try:
        done = instance.run("poolscope-agent", *options, check=False)
        oracle.check(done.returncode == 2 and b"--broker: more than 8" in done.stderr,
                     "nine brokers are too many, and the message says so", done.stderr)
    finally:
        instance.close()


def test(oracle, seed):
    failover(oracle, seed)
    tree(oracle, seed)
    table(oracle, seed)
    too_many(oracle)


if __name__ == "__main__":
    main(test)
