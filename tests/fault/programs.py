"""The n-th operation of the disk fails, or the n-th allocation, in whole programs.

    PROGRAMS="agent broker aggregator emit fallback import upload"

For each program (default: emit fallback import; `all`) and each way to fail the scenario is
played with the first operation failing, with the second, and so on until there
is none left, once with that one alone and once with all behind it: an error of
the disk, a full one, an interrupted and a short write, no memory.  The program
may go on or end with a status; without memory it may abort.  Started again
without faults, all that was accepted must reach the store, once.

Of operations one in SKIP (default 1) is tried, of allocations one in EVERY
(default 1, where a program makes thousands 20), SEED from the environment.
SPDX-License-Identifier: MIT
"""
import os
import signal
import tempfile

from pool import Failed, main
from worlds import Trials, of_each_program

HOWS = ("EIO", "ENOSPC", "EINTR", "a short write", "no memory")
SHIM = os.path.abspath("../../%s/fault/nth.so" % os.environ.get("B", "build"))
POINTS_MAX = 100000


def ends_well(status):
    """By itself: no signal."""
    return 0 <= status < 128


def ends_without_memory(status):
    return ends_well(status) or status in (-signal.SIGABRT, 128 + signal.SIGABRT)


class Faults(Trials):
    hit = None  # a file that the shim writes to
    excused = 0  # ends by libzmq that were crashes

    def point(self, how, number, sticky):
        """Was there such an operation?"""
        self.renew()
        self.world.ends = ends_without_memory if HOWS[how] == "no memory" else ends_well
        self.hit.truncate(0)
        self.hit.truncate(4096)
        name = "%s: %s at %d%s" % (self.program, HOWS[how], number,
                                   " and all behind it" if sticky else "")
        try:
            self.world.play(["env", "LD_PRELOAD=" + SHIM, "NTH=%d %d %d %s" %
                             (how, number, sticky, self.hit.name)])
            self.world.ends = ends_well
        except Failed as why:
            raise Failed("%s: %s" % (name, why)) from why
        self.judge(name)
        self.hit.seek(0)
        was_hit, excused = self.hit.read(2)
        self.excused += excused
        return was_hit == 1

    def play(self):
        skip = {how: int(os.environ.get("SKIP", "1")) for how in range(len(HOWS))}
        skip[HOWS.index("no memory")] = int(os.environ.get(
            "EVERY", "1" if self.program in ("emit", "fallback") else "20"))
        with tempfile.NamedTemporaryFile() as self.hit:
            for how in range(len(HOWS)):
                # An interrupted write is tried again, for ever if need be.
                for sticky in (0, 1) if HOWS[how] != "EINTR" else (0,):
                    number = self.random.randint(1, skip[how])
                    while number < POINTS_MAX and self.point(how, number, sticky):
                        self.counts[HOWS[how]] += 1
                        number += self.random.randint(1, 2 * skip[how] - 1)
        if self.excused:
            print("%s: at %d of them libzmq crashed for want of memory" %
                  (self.program, self.excused))


def test(oracle, seed):
    if os.environ.get("VARIANT", "release") != "release":
        print("SKIPPED - faults of whole programs: sanitizers want to be first")
        return
    if not os.path.exists(SHIM):
        raise Failed("there is no %s: make faults" % SHIM)
    of_each_program("emit fallback import", lambda program: Faults(oracle, program, seed, ends_well).all(
        "%d faults", "whatever fails, all that was accepted is stored once"))


main(test)
