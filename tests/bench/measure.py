"""What the best of some runs of a command took: wall time, and CPU and memory
of that run.  Memory is the greatest resident set: pages of mapped files too,
and never less than what this program had before it became the command.

    measure.py RUNS NAME COMMAND [ARGUMENT...]

$GOAL follows the figures.  The file that the command writes with -o goes before each run.
SPDX-License-Identifier: MIT
"""
import os
import sys
import time


def run(command):
    """Seconds, seconds of CPU, MiB."""
    if "-o" in command:
        output = command[command.index("-o") + 1]
        if os.path.isfile(output):
            os.unlink(output)
    began = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    took = time.monotonic() - began
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(arguments):
    goal = os.environ.get("GOAL", "")
    runs, name, command = int(arguments[0]), arguments[1], arguments[2:]
    wall, cpu, memory = min(run(command) for _ in range(runs))
    print(f"{name:<40}{wall:8.3f} s wall{cpu:8.3f} s CPU{memory:8.1f} MiB{goal}")


main(sys.argv[1:])
