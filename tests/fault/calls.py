"""kill -9 at every system call of a short scenario, by strace.

    PROGRAMS="agent broker aggregator emit fallback import upload"

For each program (default: agent) and each of the calls below, the scenario is
played with the program killed at its first such call, its second, and so on,
until it lives to the end; whatever the loader calls before main is left out.
Once with the first thread alone in view, and, of what other threads call as
well, once with all.  After each the program is started again, everything must
reach the store, and the journal is held against the ledger.

SEED from the environment.
SPDX-License-Identifier: MIT
"""
import os
import signal
import subprocess
import tempfile

from pool import main
from worlds import PATIENCE_S, Trials, of_each_program

CALLS = ("write", "pwrite64", "pwritev", "fdatasync", "fsync", "rename", "renameat", "renameat2",
         "unlink", "unlinkat", "openat", "sendto", "sendmsg", "ftruncate", "fallocate")
OTHERS = ("write", "sendto", "sendmsg")  # what other threads are looked at for
POINTS_MAX = 2000


def loader_calls(program):
    """How often it opens something before main."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["strace", "-o", out.name, "-e", "trace=openat", program, "--version"],
                       stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_S)
        return sum(1 for line in out if line.startswith("openat"))


def traced(call, number, threads):
    return ["strace", "-qq", "-o", "/dev/null"] + (["-f", "--seccomp-bpf"] if threads else []) + [
        "-e", "trace=" + call, "-e", "inject=%s:signal=KILL:when=%d" % (call, number)]


def ends_well(status):
    return status in (0, -signal.SIGKILL, 128 + signal.SIGKILL)


class Points(Trials):
    def point(self, call, number, threads):
        """Was it killed?"""
        self.renew()
        killed = not self.world.play(traced(call, number, threads))
        self.judge("%s killed at %s %d%s" %
                   (self.program, call, number, " of any thread" if threads else ""))
        return killed

    def play(self):
        skipped = loader_calls("poolscope-" + {"fallback": "emit"}.get(self.program, self.program))
        for threads in (False, True):
            for call in OTHERS if threads else CALLS:
                number = skipped if call == "openat" else 0
                while number < POINTS_MAX:
                    number += 1
                    if not self.point(call, number, threads):
                        break
                    self.counts[call] += 1


def test(oracle, seed):
    if os.environ.get("VARIANT", "release") != "release":
        print("not run: sanitizers and strace both want to trace")
        return
    if subprocess.run(["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true"], check=False,
                      capture_output=True, timeout=PATIENCE_S).returncode != 0:
        print("SKIPPED - no kills at system calls: strace may not trace here")
        return
    of_each_program("agent", lambda program: Points(oracle, program, seed, ends_well).all(
        "killed at %d calls", "killed at every call, all is stored once"))


main(test)
