"""damage - stores that a disk has damaged, and what programs make of them.

Usage: damage.py records FROM TO       print records of these hours, for records.py
       damage.py break STORE SCRATCH   damage copies of the store, ROUNDS / 5 of them
       damage.py zero STORE SCRATCH    ROUNDS / 2 pages of its tables, each in a copy
       damage.py stale STORE SCRATCH   ROUNDS / 5 pages of its files, each before its last change, in a copy

A round damages one copy: a page of zeros, another header of a page, flipped bits, a
number of another page, a cut file; of the tables or of the journal.  Then each
program runs on it.  None may end by a signal or hang.  A dump prints lines of the whole store and no others; if
one is missing, or nothing could be read at all, its status is 1 and it says why.
SPDX-License-Identifier: MIT
"""

import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

PAGE = 4096
KINDS = ("event", "sample", "span", "entity", "phase", "run")


def records(begin, end):
    for node in range(40):
        print("group n%02d level one:1:gauge two:By:counter" % node)
        print("entity n%02d job j%02d state=done size=%d" % (node, node, node))
        for hour in range(begin, end):
            for i in range(8):
                at = hour * 3600 + i * 400 + node
                print("event %d n%02d work:start key=%d job=j%02d text=%s" % (at, node, i, node, "x" * (node * 7 % 60)))
                print("span %d %d n%02d track%d step%d" % (at + 1, at + 90, node, i % 3, i))
                print("sample %d n%02d level %d.5 %d" % (at + 2, node, i, at))
                print("event %d n%02d work:end key=%d job=j%02d" % (at + 100, node, i, node))


def damage(path, chance):
    """Damage the file; returns what was done to it."""
    size = os.path.getsize(path)
    pages = size // PAGE
    with open(path, "r+b") as file:
        way = chance.choice(["zero", "header", "bits", "bits", "cut", "page of another", "child", "child", "root"])
        page = chance.randrange(pages)
        if chance.random() < 0.1:
            page = chance.randrange(2)
        file.seek(page * PAGE)
        if way == "zero":
            file.write(bytes(PAGE))
        elif way == "header":
            old = bytearray(file.read(16))
            old[chance.choice([0, 1, 7, 10, 11, 12, 13, 14, 15])] = chance.randrange(256)
            file.seek(page * PAGE)
            file.write(old)
        elif way == "bits":
            for _ in range(chance.choice([1, 1, 8, 64])):
                at = chance.randrange(size) if chance.random() < 0.3 else page * PAGE + chance.randrange(PAGE)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << chance.randrange(8)]))
        elif way in ("child", "root"):
            way += exchange(file, chance, pages, way == "root")
        elif way == "cut":
            size = chance.choice([0, 1, 5000, 8192, chance.randrange(size), page * PAGE])
            file.truncate(size)
            way = "cut to %d" % size
        else:
            other = chance.randrange(pages)
            file.seek(other * PAGE)
            old = file.read(PAGE)
            file.seek(page * PAGE)
            file.write(old)
            way += ", %d" % other
    return "%s: page %d: %s" % (os.path.basename(os.path.dirname(path)), page, way)


def exchange(file, chance, pages, is_root):
    """A number of a page in a branch, or of a root in the table of tables, is that
    of another page: any one, or one of the same kind (branch, leaf)."""
    file.seek(0)
    data = file.read()
    by_kind = {1: [], 2: []}
    for page in range(2, pages):
        if struct.unpack_from("<Q", data, page * PAGE)[0] == page:
            by_kind.get(struct.unpack_from("<H", data, page * PAGE + 10)[0], []).append(page)
    places = []
    for page in by_kind[2 if is_root else 1]:
        lower, = struct.unpack_from("<H", data, page * PAGE + 12)
        for i in range((lower - 16) // 2):
            node = page * PAGE + struct.unpack_from("<H", data, page * PAGE + 16 + 2 * i)[0]
            low, high, flags, key = struct.unpack_from("<HHHH", data, node)
            if not is_root:
                places.append((node, low | high << 16 | flags << 32))
            elif flags == 2:
                places.append((node + 8 + key + 40, struct.unpack_from("<Q", data, node + 8 + key + 40)[0]))
    places = [(at, child) for at, child in places if child < pages]
    if not places:
        return ": none"
    at, child = chance.choice(places)
    kind = struct.unpack_from("<H", data, child * PAGE + 10)[0]
    alike = by_kind.get(kind) or [2]
    other = chance.choice([child ^ 1 << chance.randrange(9), chance.choice(alike), chance.choice(alike),
                           chance.randrange(pages)])
    file.seek(at)
    file.write(struct.pack("<Q", other) if is_root else struct.pack("<HHH", other & 65535, other >> 16, 0))
    return ": %d is %d" % (child, other)


class Judge:
    def __init__(self):
        self.good = self.bad = self.whole = self.partial = 0

    def check(self, condition, what, *details):
        if condition:
            self.good += 1
            return
        self.bad += 1
        print("FAILED - %s" % what, *details, flush=True)


def said_why(done):
    return done.stderr.strip()


def run(judge, what, command, may=(0, 1), says=said_why):
    try:
        done = subprocess.run(command, capture_output=True, timeout=60 * int(os.environ.get("SLOW", "2")),
                              errors="surrogateescape")
    except subprocess.TimeoutExpired:
        judge.check(False, what, "hangs:", *command)
        return None
    judge.check(done.returncode in may, what, "status", done.returncode, *command, done.stderr[-1500:])
    judge.check(done.returncode == 0 or says(done), what, "status", done.returncode, "without a word:", *command)
    return done


def run_status(judge, what, source):
    """With 3 the answer itself says what is wrong."""
    def says(done):
        return done.stderr.strip() if done.returncode != 3 else [
            row for row in json.loads(done.stdout)["rows"] if row["text"].strip()]
    run(judge, what, ["poolscope-stats", "status", "--format", "json", *source], (0, 1, 3), says)


def lines(done):
    return sorted(done.stdout.splitlines())


def dump(source, kind):
    return ["poolscope-dump", "-q", *source, "--kind", kind, "--format", "jsonl"]


LOST = re.compile(r'"session": null|"\?\d+": ')


def pattern_of(line):
    """A line of which the store has lost the names of its session or its attributes."""
    escaped = re.escape(line).replace(re.escape('"session": null'), '"session": ("[0-9a-f]*"|null)')
    return re.compile(re.sub(r'"\\\?\d+"', '"[^"]*"', escaped))


def is_part(some, all_of_them):
    """The first line that is not one of the others, each of which counts once."""
    left = collections.Counter(all_of_them)
    for line in some:
        if LOST.search(line):
            continue
        if left[line] == 0:
            return line
        left[line] -= 1
    for line in filter(LOST.search, some):
        pattern = pattern_of(line)
        its = next((one for one in left if left[one] > 0 and pattern.fullmatch(one)), None)
        if its is None:
            return line
        left[its] -= 1
    return None


def check_dump(judge, what, source, kind, whole):
    done = run(judge, what, dump(source, kind))
    if done is None:
        return False
    judge.whole += done.returncode == 0
    judge.partial += done.returncode == 1 and bool(done.stdout)
    if done.returncode == 0:
        judge.check(lines(done) == whole[kind], what, kind, "differs, status 0:",
                    len(done.stdout.splitlines()), "of", len(whole[kind]))
    elif kind not in ("phase", "entity", "run"):
        judge.check(is_part(lines(done), whole[kind]) is None, what, kind, "has a line that is not in the store:",
                    is_part(lines(done), whole[kind]))
    return done.returncode == 0


def with_aggregator(judge, what, store, scratch, whole):
    """Start an aggregator on the store, ask it, and stop it."""
    directory = scratch + "/instance"
    os.makedirs(directory + "/run", exist_ok=True)
    log = open(scratch + "/aggregator.log", "w")
    head = subprocess.Popen(["poolscope-aggregator", "--dir", directory, "--store", store], stderr=log, stdout=log)
    end = time.time() + 20
    socket = directory + "/run/reader.ipc"
    while time.time() < end and head.poll() is None and "listening for readers" not in open(log.name).read():
        time.sleep(0.02)
    if head.poll() is None:
        for kind in ("event", "span"):
            check_dump(judge, what + " through an aggregator", ["--connect", "ipc://" + socket], kind, whole)
        run_status(judge, what, ["--connect", "ipc://" + socket])
        if head.poll() is None:
            head.terminate()
    try:
        status = head.wait(60)
    except subprocess.TimeoutExpired:
        head.kill()
        status = "no end"
    log.close()
    said = open(log.name, errors="surrogateescape").read()
    judge.check(status in (0, 1), what, "the aggregator ended with", status, said[-1500:])
    judge.check(status == 0 or said.strip(), what, "the aggregator ended without a word")


def one(judge, round_number, store, scratch, chance, whole):
    copy = scratch + "/copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(store, copy)
    for part in ("tables", "journal"):
        for name in os.listdir(copy + "/" + part):
            if name == "lock.mdb":
                os.unlink(copy + "/" + part + "/" + name)
    part = "tables" if chance.random() < 0.8 else "journal"
    what = "round %d, %s" % (round_number, damage("%s/%s/data.mdb" % (copy, part), chance))
    source = ["--store", copy]
    good = [check_dump(judge, what, source, kind, whole)
            for kind in (KINDS if part == "tables" else KINDS[:1])]
    run(judge, what, ["poolscope-stats", "phases", *source])
    run_status(judge, what, source)
    verify = run(judge, what, ["poolscope-admin", "verify", *source], (0, 1, 3))
    if verify is not None and not all(good):
        judge.check(verify.returncode != 0, what, "verify finds nothing, but a dump lacks rows")
    shutil.rmtree(scratch + "/backup", ignore_errors=True)
    run(judge, what, ["poolscope-admin", "backup", scratch + "/backup", *source])
    if round_number % 4 == 0:
        with_aggregator(judge, what, copy, scratch, whole)
    if round_number % 8 == 1:
        run(judge, what, ["poolscope-admin", "compact", *source])
        run(judge, what, ["poolscope-admin", "rebuild", *source])


def zero(store, scratch):
    """What deletes many rows, or goes to and fro in a table, meets a page of zeros."""
    seed = int(os.environ.get("SEED", time.time_ns()))
    print("seed %d" % seed, flush=True)
    judge, copy = Judge(), scratch + "/copy"
    pages = range(2, os.path.getsize(store + "/tables/data.mdb") // PAGE)
    chosen = random.Random(seed).sample(pages, min(len(pages), max(1, int(os.environ.get("ROUNDS", "300")) // 2)))
    for page in sorted(chosen):
        for command in (dump([], "phase"), ["poolscope-admin", "compact"], ["poolscope-admin", "rebuild"]):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(store, copy, ignore=shutil.ignore_patterns("lock.mdb"))
            with open(copy + "/tables/data.mdb", "r+b") as file:
                file.seek(page * PAGE)
                file.write(bytes(PAGE))
            run(judge, "page %d" % page, [*command, "--store", copy])
    print("%d passed, %d failed" % (judge.good, judge.bad))
    return judge.bad != 0


def leaves(data):
    """The pages of the newest tree whose rows are not tables: of the tables and of the free list."""
    meta = max((0, PAGE), key=lambda at: struct.unpack_from("<Q", data, at + 16 + 128))
    waiting, found = list(struct.unpack_from("<Q40xQ", data, meta + 16 + 64)), []
    while waiting:
        page = waiting.pop()
        if page == 2 ** 64 - 1:
            continue
        kind, lower = struct.unpack_from("<HH", data, page * PAGE + 10)
        is_table = False
        for i in range((lower - 16) // 2):
            node = page * PAGE + struct.unpack_from("<H", data, page * PAGE + 16 + 2 * i)[0]
            low, high, flags, key = struct.unpack_from("<HHHH", data, node)
            is_table = is_table or kind == 2 and flags == 2
            if kind == 1:
                waiting.append(low | high << 16 | flags << 32)
            elif flags == 2:
                waiting.append(struct.unpack_from("<Q", data, node + 8 + key + 40)[0])
        if kind == 2 and not is_table:
            found.append(page)
    return found


def before_last_row(old):
    """The page as it was before its newest row, which is the one in front of the others."""
    page = bytearray(old)
    lower, upper = struct.unpack_from("<HH", page, 12)
    places = list(struct.unpack_from("<%dH" % ((lower - 16) // 2), page, 16))
    low, high, flags, key = struct.unpack_from("<HHHH", page, upper)
    size = 8 + key + (8 if flags & 1 else low | high << 16)
    places.remove(upper)
    struct.pack_into("<HH", page, 12, lower - 2, upper + size + size % 2)
    struct.pack_into("<%dH" % len(places), page, 16, *places)
    return page


def stale(store, scratch):
    """A disk has lost the last write of a page: it is a good page, but an older one."""
    seed = int(os.environ.get("SEED", time.time_ns()))
    print("seed %d" % seed, flush=True)
    judge, copy, places, short = Judge(), scratch + "/copy", [], 0
    whole = {kind: lines(run(judge, "the whole store", dump(["--store", store], kind), (0,))) for kind in KINDS}
    for part in ("tables", "journal"):
        with open("%s/%s/data.mdb" % (store, part), "rb") as file:
            data = file.read()
        places += [(part, page, data[page * PAGE:][:PAGE]) for page in leaves(data)]
    places = [each for each in places if struct.unpack_from("<H", each[2], 12)[0] > 18]
    random.Random(seed).shuffle(places)
    chosen = places[:max(1, int(os.environ.get("ROUNDS", "300")) // 5)]
    for part, page, old in chosen:
        what = "%s, page %d without its newest row" % (part, page)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy, ignore=shutil.ignore_patterns("lock.mdb"))
        with open("%s/%s/data.mdb" % (copy, part), "r+b") as file:
            file.seek(page * PAGE)
            file.write(before_last_row(old))
        for kind in KINDS:
            done = run(judge, what, dump(["--store", copy], kind))
            short += done.returncode == 0 and len(lines(done)) < len(whole[kind])
        verify = run(judge, what, ["poolscope-admin", "verify", "--store", copy], (3,))
        judge.check(re.search(r"table \w+ has \d+ rows and should have \d+|the list of free pages", verify.stderr),
                    what, "verify says", verify.stderr[:1000])
    print("%d of %d pages, %d dumps short without a word" % (len(chosen), len(places), short))
    print("%d passed, %d failed" % (judge.good, judge.bad))
    return judge.bad != 0


def main():
    if sys.argv[1] == "records":
        records(int(sys.argv[2]), int(sys.argv[3]))
        return 0
    if sys.argv[1] == "zero":
        return zero(*sys.argv[2:])
    if sys.argv[1] == "stale":
        return stale(*sys.argv[2:])
    store, scratch = sys.argv[2:]
    seed = int(os.environ.get("SEED", time.time_ns()))
    rounds = max(1, int(os.environ.get("ROUNDS", "300")) // 5)
    print("seed %d" % seed, flush=True)
    judge = Judge()
    whole = {}
    for kind in KINDS:
        done = run(judge, "the whole store", dump(["--store", store], kind), (0,))
        whole[kind] = lines(done)
        judge.check(whole[kind], "the whole store has", kind)
    begin = int(os.environ.get("FIRST", "0"))
    for number in range(begin, begin + rounds):
        one(judge, number, store, scratch, random.Random("%d %d" % (seed, number)), whole)
        if judge.bad > 20:
            break
    judge.check(rounds < 20 or min(judge.whole, judge.partial) > 0, "some dumps are whole, some have gaps")
    print("%d dumps whole, %d with gaps" % (judge.whole, judge.partial))
    print("%d passed, %d failed" % (judge.good, judge.bad))
    return judge.bad != 0


if __name__ == "__main__":
    sys.exit(main())
