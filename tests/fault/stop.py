"""A stopped aggregator, broker and exporter, and TERM under load.

An exporter that follows what is received is stopped, and then there is one
whose output nobody reads: neither may hold up anybody else, and whoever goes on
gets everything once.

TIMES (default 1), STOPPED (seconds of each stop, default 2.5) and SEED from the
environment.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import signal
import subprocess

from judge import judge_journal, of_load
from pool import Failed, Instance, Load, drain, events, main, wait_until

STOPPED_S = float(os.environ.get("STOPPED", "2.5"))
GROWTH_MAX = 256 << 20


class Follower:
    """Prints what the aggregator receives, into a file or into a pipe that
    nobody reads."""

    def __init__(self, instance, load, name):
        self.load = load
        self.path = "%s/%s.jsonl" % (instance.dir, name) if name else None
        self.output = open(self.path, "wb") if name else subprocess.PIPE
        self.stderr = "%s/%s.stderr" % (instance.dir, name or "unread")
        cursor = "%s/%s.cursor" % (instance.dir, name or "unread")
        # From the oldest on.
        with open(self.stderr, "wb") as stderr:
            self.process = subprocess.Popen(
                ["poolscope-dump", "--dir", instance.dir, "--follow", "--cursor", cursor, "-p",
                 load.partition, "--kind", "event"],
                stdin=subprocess.DEVNULL, stdout=self.output, stderr=stderr)

    def lives(self):
        return self.process.poll() is None

    def numbers(self):
        if not self.lives():
            with open(self.stderr) as stderr:
                raise Failed("the exporter ended (%d): %s" % (self.process.returncode, stderr.read()))
        with open(self.path) as file:
            rows = [json.loads(line) for line in file.read().split("\n")[:-1]]
        return [r["attributes"]["number"] for r in rows if "number" in r["attributes"]]

    def close(self):
        self.process.kill()
        self.process.wait()
        if self.path is None:
            self.process.stdout.close()
        else:
            self.output.close()


def goes_on(oracle, load, name):
    before = len(load.accepted)
    load.burst(STOPPED_S)
    oracle.check(len(load.accepted) > before + 100,
                 "the agent goes on accepting while the %s is stopped" % name,
                 len(load.accepted) - before)


def stop_services(oracle, instance, load):
    for name in ("aggregator", "broker"):
        load.burst(0.3)
        instance.signal(name, signal.SIGSTOP)
        goes_on(oracle, load, name)
        instance.signal(name, signal.SIGCONT)
        load.burst(0.3)
        drain(instance)
        oracle.judge(instance, load, "%s stopped and continued" % name)


def stop_exporters(oracle, instance, load, number):
    load.burst(0.1)
    peak = instance.peak("aggregator")
    first = load.next
    stopped = Follower(instance, load, "follow-%d" % number)
    unread = Follower(instance, load, None)
    try:
        # Where there is nothing yet it begins with what comes next.
        wait_until(lambda: load.put([load.record()]) and stopped.numbers(), 30,
                   "the exporter to follow")
        stopped.process.send_signal(signal.SIGSTOP)
        goes_on(oracle, load, "exporter")
        load.fence()
        oracle.check(len(events(instance)) > 0, "other readers go on while the exporter is stopped")
        grown = instance.peak("aggregator") - peak
        oracle.check(grown < GROWTH_MAX, "the aggregator does not grow for a stopped exporter", grown)
        stopped.process.send_signal(signal.SIGCONT)
        begins = min(stopped.numbers())
        wanted = {n for n in load.accepted if n >= max(begins, first)}
        wait_until(lambda: wanted <= set(stopped.numbers()), 60, "the exporter to catch up")
        got = stopped.numbers()
        oracle.check(len(got) == len(set(got)), "the exporter gets everything once",
                     len(got) - len(set(got)))
        oracle.check(unread.lives(), "an exporter that nobody reads waits")
    finally:
        stopped.close()
        unread.close()


def end_services(oracle, instance, load):
    for name in ("agent", "broker", "aggregator"):
        load.burst(0.2)
        status = instance.kill(name, signal.SIGTERM)
        oracle.check(status == 0, "TERM ends the %s with status 0" % name, status)
        load.burst(0.05)
        instance.start(name)
    load.disconnect()
    drain(instance)
    oracle.judge(instance, load, "after TERM of each")


def test(oracle, seed):
    rng = random.Random(seed)
    times = int(os.environ.get("TIMES", "1"))
    for number in range(1, times + 1):
        instance = Instance(agent_options=["--segment-bytes", "256KiB", "--spool-bytes", "64MiB"],
                            aggregator_options=["--journal-keep", "10d"])
        load = Load(instance, rng.getrandbits(32))
        try:
            instance.start()
            stop_services(oracle, instance, load)
            stop_exporters(oracle, instance, load, number)
            end_services(oracle, instance, load)
            judge_journal(oracle, instance.dir + "/store", [(of_load, load)], "time %d" % number)
        finally:
            instance.close()
        if oracle.failed:
            break
    print("aggregator, broker and exporter stopped: %d times each" % number)


main(test)
