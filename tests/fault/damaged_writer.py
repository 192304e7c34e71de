"""damaged_writer - an aggregator goes on writing to tables whose keys are damaged.

Usage: damaged_writer.py BEFORE STORE MODELS SCRATCH    ROUNDS / 5 of them

STORE is a whole store, BEFORE are its tables as they were when its journal was
shorter: as after a power cut, an aggregator has to index the rest.  A round damages
keys in a copy of BEFORE: a flipped bit of a key, of its length, two rows that change
places; in a leaf or in a branch.  Then an aggregator indexes and compacts, and ends.
It may not end by a signal.  What a dump prints are lines of STORE; one that says that
all is well prints all of them.
SPDX-License-Identifier: MIT
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import time

from damage import KINDS, PAGE, Judge, dump, is_part, lines, run

BRANCH, LEAF = 1, 2


def rows_of(data, number):
    """Kind of a page, and where its rows begin."""
    at = number * PAGE
    flags, lower = struct.unpack_from("<HH", data, at + 10)
    return flags, [at + offset for offset in struct.unpack_from("<%dH" % ((lower - 16) // 2), data, at + 16)]


def tree(data, root):
    """The pages of a tree that have rows."""
    if root == (1 << 64) - 1:
        return []
    found, (flags, rows) = [root], rows_of(data, root)
    if flags == BRANCH:
        for row in rows:
            low, high = struct.unpack_from("<IH", data, row)
            found += tree(data, low | high << 32)
    return found


def tables_of(data):
    """The pages of each table that has rows, by name."""
    txns = [struct.unpack_from("<Q", data, n * PAGE + 16 + 128)[0] for n in (0, 1)]
    names = struct.unpack_from("<Q", data, (txns[1] > txns[0]) * PAGE + 16 + 72 + 40)[0]
    found = {}
    for row in rows_of(data, names)[1]:
        key_bytes = struct.unpack_from("<H", data, row + 6)[0]
        pages = tree(data, struct.unpack_from("<Q", data, row + 8 + key_bytes + 40)[0])
        if pages:
            found[bytes(data[row + 8:row + 8 + key_bytes]).decode()] = pages
    return found


def damage_keys(path, chance):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    tables = tables_of(data)
    table = chance.choice(sorted(tables))
    number = chance.choice(tables[table])
    flags, starts = rows_of(data, number)
    least = 1 if flags == BRANCH else 0
    row = chance.randrange(least, len(starts))
    where = starts[row]
    key_bytes = struct.unpack_from("<H", data, where + 6)[0]
    way = chance.choice(["key", "key", "key", "length", "order"])
    if way == "key" and key_bytes > 0:
        data[where + 8 + chance.randrange(key_bytes)] ^= 1 << chance.randrange(8)
    elif way == "length":
        data[where + 6] ^= 1 << chance.randrange(4)
    else:
        way = "order"
        a, b = (number * PAGE + 16 + 2 * n for n in (row, chance.randrange(least, len(starts))))
        data[a:a + 2], data[b:b + 2] = data[b:b + 2], data[a:a + 2]
    with open(path, "wb") as file:
        file.write(data)
    return "%s of row %d of %d, page %d (%s of %s)" % (
        way, row, len(starts), number, "branch" if flags == BRANCH else "leaf", table)


def write(judge, what, store, models, scratch):
    """Let an aggregator index what is in the journal; returns what it said."""
    directory = scratch + "/instance"
    os.makedirs(directory + "/run", exist_ok=True)
    with open(scratch + "/aggregator.log", "w") as log:
        head = subprocess.Popen(["poolscope-aggregator", "--dir", directory, "--store", store, "--models", models,
                                 "--compact-after", "1h"], stderr=log, stdout=log)
        end = time.time() + 30
        while time.time() < end and head.poll() is None and "listening for readers" not in open(log.name).read():
            time.sleep(0.02)
        time.sleep(0.3)
        if head.poll() is None:
            head.terminate()
        try:
            status = head.wait(60)
        except subprocess.TimeoutExpired:
            head.kill()
            status = "no end"
    said = open(log.name, errors="surrogateescape").read()
    judge.check(status in (0, 1), what, "the aggregator ended with", status, said[-1500:])
    judge.check(status == 0 or said.strip(), what, "the aggregator ended without a word")
    return said


def check(judge, what, kind, store, whole):
    """What a dump prints; the batches that wait in the journal are no loss."""
    done = run(judge, what, [word for word in dump(["--store", store], kind) if word != "-q"])
    if done is None:
        return
    judge.whole += done.returncode == 0
    judge.partial += done.returncode == 1
    if done.returncode == 0 and "not indexed" not in done.stderr:
        judge.check(lines(done) == whole[kind], what, kind, "differs, and nothing is said:",
                    len(done.stdout.splitlines()), "of", len(whole[kind]))
    elif kind not in ("phase", "entity", "run"):
        wrong = is_part(lines(done), whole[kind])
        judge.check(wrong is None, what, kind, "has a line that is not in the store:", wrong, done.stderr[-300:])


def one(judge, what, store, models, scratch, whole):
    said = write(judge, what, store, models, scratch)
    if os.environ.get("SAY"):
        print(what, said)
    for kind in KINDS:
        check(judge, what, kind, store, whole)
    run(judge, what, ["poolscope-admin", "verify", "--store", store], (0, 1, 3))


def main():
    before, store, models, scratch = sys.argv[1:]
    seed = int(os.environ.get("SEED", time.time_ns()))
    rounds = max(1, int(os.environ.get("ROUNDS", "300")) // 5)
    print("seed %d" % seed, flush=True)
    judge, whole = Judge(), {}
    for kind in KINDS:
        done = run(judge, "the whole store", dump(["--store", store], kind), (0,))
        whole[kind] = lines(done)
        judge.check(whole[kind], "the whole store has", kind)
    copy = scratch + "/copy"
    first = int(os.environ.get("FIRST", "-1"))  # -1: nothing is damaged
    for number in range(first, max(first, 0) + rounds):
        chance = random.Random("%d %d" % (seed, number))
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy, ignore=shutil.ignore_patterns("lock.mdb", "tables"))
        shutil.copytree(before, copy + "/tables", ignore=shutil.ignore_patterns("lock.mdb"))
        what = "round %d" % number
        if number >= 0:
            what += ", " + damage_keys(copy + "/tables/data.mdb", chance)
        one(judge, what, copy, models, scratch, whole)
        if judge.bad > 20:
            break
    print("%d dumps whole, %d with gaps" % (judge.whole, judge.partial))
    print("%d passed, %d failed" % (judge.good, judge.bad))
    return judge.bad != 0


sys.exit(main())
