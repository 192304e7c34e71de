"""Files of 20 entries each, taken by 1 and by 4 uploaders at once; the best of
some runs, each with the same files again in a partition of its own.

    upload.py FOLDER RUNS FILES

SPDX-License-Identifier: MIT
"""
import json
import os
import subprocess
import sys
import time

ENTRIES = 20


def write(folder, files):
    os.mkdir(folder)
    for number in range(files):
        path = "%s/f%06d.json" % (folder, number * 7919 % files)
        with open(path, "w") as file:
            json.dump({"name": "//c:t%d" % (number % 17), "startTime": str(1490000000 + number),
                       "entries": {"entry": [
                           {"name": "BM_%d" % k, "iters": "10", "cpuTime": (number + k) / 4096,
                            "wallTime": (number * 31 + k + 1) / 1024}
                           for k in range(ENTRIES)]}}, file)
        os.utime(path, ns=((1490000000 + number * 60) * 10**9,) * 2)


def lag():
    status = subprocess.run(["tests/flow/counters.py"],
                            check=True, capture_output=True).stdout
    return json.loads(status)["store"]["indexing_lag"]


def one_run(folder, number, instances):
    """Seconds, seconds of CPU of all, MiB of the largest."""
    data, archive = "%s/d%d" % (folder, number), "%s/a%d" % (folder, number)
    subprocess.run(["cp", "-rp", folder + "/files", data], check=True)
    os.mkdir(archive)
    os.sync()
    while lag() > 0:
        time.sleep(0.1)
    command = ["poolscope-upload", "results", "-q", "-d", data, "-a", archive, "--target", "store",
               "-p", "bench$%d" % number]
    files = len(os.listdir(data))
    began = time.monotonic()
    pids = [os.posix_spawnp(command[0], command, os.environ) for _ in range(instances)]
    cpu = memory = 0
    for pid in pids:
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            sys.exit("%s: status %d" % (command, status))
        cpu += usage.ru_utime + usage.ru_stime
        memory = max(memory, usage.ru_maxrss / 1024)
    took = time.monotonic() - began
    if len(os.listdir(archive)) != files or os.listdir(data):
        sys.exit("not every file is in the archive")
    subprocess.run(["rm", "-r", data, archive], check=True)
    return took, cpu, memory


def main(folder, runs, files):
    write(folder + "/files", files)
    number = 0
    for instances, goal in ((1, "1.2 s, 32 MiB"), (4, "0.8 s")):
        best = None
        for _ in range(runs):
            number += 1
            took = one_run(folder, number, instances)
            best = min(best or took, took)
        print("%d files x %d entries, %d at once   %6.3f s   %6.3f s CPU   %5.1f MiB   goal %s" %
              ((files, ENTRIES, instances) + best + (goal,)), flush=True)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
