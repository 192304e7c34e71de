"""Disk full: in the spool (emit says 75, nothing accepted is lost) and at the
aggregator (agents spool, readers go on, status says so); three cycles each, under a slow instrument one.

Needs root for small file systems of its own (tmpfs).
SPDX-License-Identifier: MIT
"""
import json
import os
import subprocess
import tempfile
import time

from pool import SLOW, Instance, Load, drain, events, main, wait_until


def mount(size):
    path = tempfile.mkdtemp(prefix="psfull.")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", path], check=True)
    return path


CYCLES = (1, 2, 3) if int(os.environ.get("SHARE", "1")) < 10 else (1,)


def unmount(path):
    subprocess.run(["umount", "-l", path], check=False)
    os.rmdir(path)


def fill(load):
    """Send until the agent refuses three times in a row: large puts, and then
    what would still fit beside them."""
    end = time.monotonic() + 30 * SLOW
    for size in (40, 1):
        refused = 0
        while refused < 3 and time.monotonic() < end:
            refused = 0 if load.put([load.record() for _ in range(size)]) else refused + 1
    return refused >= 3


def spool(oracle, seed):
    disk = mount("6m")
    instance = Instance(spool=disk + "/spool", agent_options=[
        "--segment-bytes", "512KiB", "--spool-bytes", "64MiB", "--free-bytes", "256KiB", "--retain-bytes", "0"])
    load = Load(instance, seed)
    try:
        instance.start()
        for cycle in CYCLES:
            instance.kill("aggregator")
            oracle.check(fill(load), "cycle %d: the full spool refuses" % cycle)
            # Smaller than what was refused: a few may still fit.
            codes = []
            while codes[-3:] != [75] * 3 and len(codes) < 40:
                codes.append(instance.run("poolscope-emit", "test", "full", check=False).returncode)
            oracle.check(codes[-3:] == [75] * 3 and set(codes) <= {0, 75},
                         "cycle %d: emit exits 75" % cycle, codes)
            instance.kill("agent")
            instance.start("agent")
            instance.start("aggregator")
            drain(instance)
            oracle.check(load.put([load.record()]), "cycle %d: it accepts again" % cycle)
        drain(instance)
        oracle.judge(instance, load, "full spool")
    finally:
        instance.close()
        unmount(disk)


def is_full(instance):
    done = instance.run("poolscope-stats", "status", "--format", "json", check=False)
    if done.returncode != 0:
        return False
    return bool(json.loads(done.stdout)["aggregator"]["full"])


def store(oracle, seed):
    disk = mount("6m")
    instance = Instance(store=disk + "/store", agent_options=[
        "--segment-bytes", "1MiB", "--spool-bytes", "64MiB"])
    load = Load(instance, seed)
    size = 6
    try:
        instance.start()
        for cycle in CYCLES:
            end = time.monotonic() + 30 * SLOW
            # Once is enough: what is small may fit again between two looks.
            full = is_full(instance)
            while not full and time.monotonic() < end:
                load.burst(0.5, 60)
                full = is_full(instance)
            oracle.check(full, "cycle %d: status says that the store is full" % cycle)
            oracle.check(load.put([load.record()]), "cycle %d: the agent goes on accepting" % cycle)
            rows = events(instance)
            oracle.check(len(rows) > 0, "cycle %d: readers go on" % cycle)
            instance.alive()
            size += 24
            subprocess.run(["mount", "-o", "remount,size=%dm" % size, disk], check=True)
            drain(instance)
            wait_until(lambda: not is_full(instance), 30, "status to say that there is room")
        oracle.judge(instance, load, "full store")
    finally:
        instance.close()
        unmount(disk)


def test(oracle, seed):
    if os.geteuid() != 0:
        print("not root: no file systems to fill")
        return
    spool(oracle, seed)
    store(oracle, seed + 1)


main(test)
