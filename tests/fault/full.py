"""Disk full: in the spool (emit says 75, nothing accepted is lost) and at the
aggregator (agents spool, readers go on, status says so); and the map of the
store full, until it may be larger.

TIMES (default three cycles each, under a slow instrument one) and SEED from the
environment.  Needs root for small file systems of its own (tmpfs).
SPDX-License-Identifier: MIT
"""
import os
import subprocess
import tempfile
import time

from pool import SLOW, Instance, Load, counted, drain, events, main, wait_until


def mount(size):
    path = tempfile.mkdtemp(prefix="psfull.")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", path], check=True)
    return path


TIMES = int(os.environ.get("TIMES", "3" if int(os.environ.get("SHARE", "1")) < 4 else "1"))
EPOCH = 5  # cycles of an instance


def grow(disk, mib):
    mib += 24
    subprocess.run(["mount", "-o", "remount,size=%dm" % mib, disk], check=True)
    return mib


def free_bytes(disk):
    left = os.statvfs(disk)
    return left.f_bavail * left.f_frsize


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


def spool(oracle, seed, cycles):
    disk = mount("6m")
    instance = Instance(spool=disk + "/spool", agent_options=[
        "--segment-bytes", "512KiB", "--spool-bytes", "64MiB", "--free-bytes", "256KiB", "--retain-bytes", "0"])
    load = Load(instance, seed)
    try:
        instance.start()
        for cycle in cycles:
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
    return bool(counted(instance, "aggregator", "full"))


def store(oracle, seed, cycles):
    disk = mount("6m")
    instance = Instance(store=disk + "/store", agent_options=[
        "--segment-bytes", "1MiB", "--spool-bytes", "64MiB"])
    load = Load(instance, seed)
    size = 6
    try:
        instance.start()
        for cycle in cycles:
            oracle.check(until_full(instance, load),
                         "cycle %d: status says that the store is full" % cycle)
            oracle.check(load.put([load.record()]), "cycle %d: the agent goes on accepting" % cycle)
            rows = events(instance)
            oracle.check(len(rows) > 0, "cycle %d: readers go on" % cycle)
            instance.alive()
            size = grow(disk, size)

            # What was waiting may need more than was given: the index of a
            # backlog is written in transactions of several MiB.
            def has_room():
                nonlocal size
                full = is_full(instance)
                if full and free_bytes(disk) < 16 << 20:
                    size = grow(disk, size)
                return not full
            drain(instance, meanwhile=has_room)
            wait_until(has_room, 30, "status to say that there is room")
        oracle.judge(instance, load, "full store")
    finally:
        instance.close()
        unmount(disk)


def until_full(instance, load):
    """Once is enough: what is small may fit again between two looks."""
    end = time.monotonic() + 30 * SLOW
    while not is_full(instance):
        if time.monotonic() > end:
            return False
        load.burst(0.5, 60)
    return True


def map_full(oracle, seed, cycles):
    instance = Instance(agent_options=["--segment-bytes", "1MiB", "--spool-bytes", "64MiB"])
    load = Load(instance, seed)
    words = instance.options["aggregator"]
    mib = 4
    try:
        for cycle in cycles:
            instance.options["aggregator"] = words + ["--map-bytes", "%dMiB" % mib]
            instance.start(*(["aggregator"] if cycle != cycles[0] else []))
            oracle.check(until_full(instance, load),
                         "cycle %d: status says that the map is full" % cycle)
            oracle.check(load.put([load.record()]), "cycle %d: the agent goes on accepting" % cycle)
            oracle.check(len(events(instance)) > 0, "cycle %d: readers go on" % cycle)
            instance.alive()
            mib += 12
            instance.kill("aggregator")
        instance.options["aggregator"] = words + ["--map-bytes", "1GiB"]
        instance.start("aggregator")
        drain(instance)
        wait_until(lambda: not is_full(instance), 30, "status to say that there is room")
        oracle.judge(instance, load, "full map")
    finally:
        instance.close()


def test(oracle, seed):
    mounts = os.geteuid() == 0
    if not mounts:
        print("SKIPPED - no file systems to fill: not root")
    for first in range(0, TIMES, EPOCH):
        cycles = range(first + 1, min(first + EPOCH, TIMES) + 1)
        if mounts:
            spool(oracle, seed + first, cycles)
            store(oracle, seed + first + 1, cycles)
        map_full(oracle, seed + first + 2, cycles)
        if oracle.failed:
            break


main(test)
