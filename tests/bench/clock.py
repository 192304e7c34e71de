"""Agents whose clocks are known, each for ten seconds, on a link as fast as a
LAN's and alike both ways: what each says of its clock next to the truth.

Goal: the last word of each within 50 us of the truth, and no word of any
further from it than it says itself.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from clocks import Clock, environment, make_shim  # noqa: E402
from pool import PARTITION, Instance, seed, wait_until  # noqa: E402

RUNS = int(os.environ.get("RUNS", "100"))
AT_ONCE = 4
SECONDS = 10
DELAY_US = 100
GOAL_US = 50


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def start_line(instance):
    port = str(free_port())
    line = subprocess.Popen([os.environ["B"] + "/bench/clock", port,
                             instance.dir + "/run/broker.ipc", str(DELAY_US)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line.stdout.readline()
    return line, "tcp://127.0.0.1:" + port


def start(instance, shim, link, number, rng):
    path = "%s/%d" % (instance.dir, number)
    clock = Clock(path + ".clock", rng.choice((1, -1)) * int(10 ** rng.uniform(3, 15)),
                  rng.randint(-80_000, 80_000))
    log = open(path + ".log", "wb")
    agent = subprocess.Popen(
        ["poolscope-agent", "--dir", instance.dir, "-p", PARTITION, "-n", "n%d" % number, "--spool",
         path + ".spool", "--fallback", path + ".drop", "--socket", path + ".sock", "--broker",
         link, "--insecure", "--metric-groups", "load", "--period", "100ms", "--send-interval", "100ms"],
        env=environment(shim, path + ".clock"), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    log.close()
    return clock, agent


def words(instance):
    done = instance.run("poolscope-dump", "-p", PARTITION, "--kind", "sample", "--name", "clock",
                        check=False)
    reports = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        reports.setdefault(row["node"], []).append((row["time_ns"], row["values"]))
    return reports


def quantile(values, q):
    return sorted(values)[int(q * (len(values) - 1))]


def report(clocks, reports):
    last, dishonest, trips, errors = [], 0, [], []
    for node, clock in clocks.items():
        off = [(values[0] + clock.shift_at(raw), values) for raw, values in sorted(reports[node])]
        dishonest += any(abs(wrong) > values[1] for wrong, values in off)
        last.append(abs(off[-1][0]) / 1000)
        errors.append(off[-1][1][1] / 1000)
        trips.append(off[-1][1][4] / 1000)
    print("clock: offset wrong by %.1f us (median), %.1f us (90 %%), %.1f us (greatest), %d of %d "
          "within %d us (goal all)" %
          (quantile(last, 0.5), quantile(last, 0.9), max(last),
           sum(wrong <= GOAL_US for wrong in last), len(last), GOAL_US))
    print("clock: error honest in %d of %d runs (goal all); it says %.0f us (median), round trip "
          "%.0f us (median, of which the link 200)" %
          (len(last) - dishonest, len(last), quantile(errors, 0.5), quantile(trips, 0.5)))


def bench():
    rng = random.Random(seed())
    instance = Instance()
    processes, clocks = [], {}
    try:
        shim = make_shim(instance.dir + "/clock.so")
        instance.start("aggregator", "broker")
        line, link = start_line(instance)
        processes.append(line)
        for first in range(0, RUNS, AT_ONCE):
            del processes[1:]
            for number in range(first, min(first + AT_ONCE, RUNS)):
                clock, agent = start(instance, shim, link, number, rng)
                clocks["n%d" % number] = clock
                processes.append(agent)
            time.sleep(SECONDS)
            for agent in processes[1:]:
                agent.send_signal(signal.SIGTERM)
            for agent in processes[1:]:
                agent.wait(timeout=30)
        wait_until(lambda: len(words(instance)) == RUNS, 30, "every clock to be reported")
        report(clocks, words(instance))
    finally:
        for agent in processes:
            if agent.poll() is None:
                agent.kill()
                agent.wait()
        instance.close()


bench()
