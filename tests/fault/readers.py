"""readers - a program that reads an LMDB environment, and stays or dies.

Usage: readers.py DIRECTORY COUNT die    take COUNT places for readers, then end as by kill -9
       readers.py DIRECTORY all hold     take all, print how many, hold them until the input ends
       readers.py DIRECTORY 0 list       print how many places are taken

It calls the library directly: a reader that knows nothing of our manners.
SPDX-License-Identifier: MIT
"""

import ctypes
import os
import signal
import sys

NOTLS, RDONLY, READERS_FULL = 0x200000, 0x20000, -30790
lmdb = ctypes.CDLL("liblmdb.so.0")
MESSAGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def must(rc):
    if rc:
        sys.exit("LMDB: %d" % rc)


def main():
    directory, count, then = sys.argv[1:]
    env = ctypes.c_void_p()
    must(lmdb.mdb_env_create(ctypes.byref(env)))
    must(lmdb.mdb_env_open(env, directory.encode(), NOTLS | RDONLY, 0o600))
    if then == "list":
        lines = []
        lmdb.mdb_reader_list(env, MESSAGE(lambda text, _: lines.append(text) or 0), None)
        print(sum(line.split()[0].isdigit() for line in lines))
        return
    taken = 0
    while count == "all" or taken < int(count):
        rc = lmdb.mdb_txn_begin(env, None, RDONLY, ctypes.byref(ctypes.c_void_p()))
        if rc == READERS_FULL and count == "all":
            break
        must(rc)
        taken += 1
    print(taken, flush=True)
    if then == "hold":
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)


main()
