"""archive_judge - is the archive on each replica what the store is?

	archive_judge.py STORE PASSWORD-FILE DATABASE EPOCH PORT PORT PORT PORT

The ports are those of s1r1 s1r2 s2r1 s2r2.  archive_rows reads the store; all that
is known here of an archive is asked in SQL:

* each record is on both replicas of the shard that its node belongs to, once for
  its identity, and nothing is there that the store does not have;
* of each row of other tables the newest version that counts, of `changes` and
  `state` together, is that of the store, and no row more;
* what was applied is in `state`;
* each name has its number.

Prints what differs, and exits with 1.
SPDX-License-Identifier: MIT
"""
import collections
import os
import subprocess
import sys
import urllib.request

KINDS = {1: "events", 2: "samples", 3: "spans", 5: "gaps", 7: "rejected"}  # proto/record/record.h
IDENTITY = "part, hour, node, track, ts, stream, seq, idx"
NAMES = 0
SHARDS = 2
MASK = (1 << 64) - 1


class Replica:
    def __init__(self, port, password):
        self.port, self.password = port, password

    def ask(self, sql):
        request = urllib.request.Request("http://127.0.0.1:%s/" % self.port, sql.encode(), {
            "X-ClickHouse-User": "poolscope_writer", "X-ClickHouse-Key": self.password})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return [line.split("\t") for line in answer.read().decode().splitlines()]


class Store:
    """What archive_rows prints."""

    def __init__(self, path):
        self.records = [collections.defaultdict(set) for _ in range(SHARDS)]
        self.rows = [{} for _ in range(SHARDS)]
        self.names = [set() for _ in range(SHARDS)]
        self.count = 0
        printed = subprocess.run([os.environ["B"] + "/parts/archive_rows", path], stdout=subprocess.PIPE, check=True)
        for line in printed.stdout.decode().splitlines():
            what, *words = line.split(" ")
            if what == "r":
                self.record(words)
            elif what == "s":
                self.row(*words)

    def record(self, words):
        kind, part, node = int(words[0]), int(words[1]), int(words[3])
        shard = ((part ^ node) * 0x9e3779b97f4a7c15 & MASK) >> 32
        table = self.records[shard % SHARDS][kind]
        identity = tuple(words[1:])
        if identity in table:
            print("the store has a record twice:", kind, identity)
        table.add(identity)
        self.count += 1

    def row(self, part, table, key, value):
        shard = int(part) % SHARDS
        self.rows[shard][part, table, key] = value
        if int(table) == NAMES and key.startswith("6E") and len(key) == 10 and key != "6E00000000":
            self.names[shard].add((part, str(int(key[2:], 16)), value))


def difference(what, want, have):
    """Prints it, and returns whether there is one."""
    lacking, more = want - have, have - want
    if lacking:
        print("%s: %d of %d are not there, as %s" % (what, len(lacking), len(want), min(lacking)))
    if more:
        print("%s: %d that are not in the store, as %s" % (what, len(more), min(more)))
    return bool(lacking or more)


def judge_records(replica, database, where, store):
    bad = False
    for kind, table in KINDS.items():
        rows = replica.ask("SELECT DISTINCT %s FROM %s.%s" % (IDENTITY, database, table))
        bad |= difference("%s of %s" % (table, where), store[kind], set(map(tuple, rows)))
        once = int(replica.ask("SELECT count() FROM %s.%s FINAL" % (database, table))[0][0])
        if once != len(rows):
            print("%s of %s: %d rows of %d identities" % (table, where, once, len(rows)))
            bad = True
    return bad


def newest(replica, database, checkpoint):
    sql = ("SELECT toString(part), toString(tbl), if(k = '', '-', hex(k)), argMax(if(v = '', '-', hex(v)), pos), "
           "argMax(del, pos) FROM (SELECT part, tbl, k, v, del, pos FROM %(db)s.changes UNION ALL "
           "SELECT part, tbl, k, v, del, pos FROM %(db)s.state) WHERE pos <= %(pos)d GROUP BY part, tbl, k")
    rows = replica.ask(sql % {"db": database, "pos": checkpoint})
    return {(part, table, key, value) for part, table, key, value, deleted in rows if deleted == "0"}


def judge_rows(replica, database, where, store, shard, checkpoint):
    want = {key + (value,) for key, value in store.rows[shard].items()}
    bad = difference("rows of %s" % where, want, newest(replica, database, checkpoint))
    names = replica.ask("SELECT part, no, hex(text) FROM %s.names FINAL" % database)
    return difference("names of %s" % where, store.names[shard], set(map(tuple, names))) or bad


def judge_state(replica, database, where, applied):
    """What was applied is in `state` alone, as `changes` has it."""
    sql = ("SELECT toString(part), toString(tbl), hex(k), argMax(hex(v), pos), argMax(del, pos), max(pos) "
           "FROM %s.%s WHERE pos <= %d GROUP BY part, tbl, k")
    changes, state = (set(map(tuple, replica.ask(sql % (database, table, applied)))) for table in ("changes", "state"))
    return difference("state of %s" % where, changes, state)


def main():
    path, password, database, epoch, *ports = sys.argv[1:]
    secret = open(password).read().strip()
    replicas = [Replica(port, secret) for port in ports]
    store = Store(path)
    home = replicas[int(epoch) % SHARDS * 2:][:2]
    marks = {replica.ask("SELECT max(pos) FROM %s.checkpoints WHERE epoch = %s" % (database, epoch))[0][0]
             for replica in home}
    applied = int(epoch) << 48 | int(home[0].ask("SELECT max(applied) FROM %s.checkpoints WHERE epoch = %s" % (
        database, epoch))[0][0])
    bad = len(marks) != 1
    if bad:
        print("the replicas have different checkpoints:", *marks)
    for i, replica in enumerate(replicas):
        where = "shard %d, replica %d" % (i // 2 + 1, i % 2 + 1)
        bad |= judge_records(replica, database, where, store.records[i // 2])
        bad |= judge_rows(replica, database, where, store, i // 2, max(map(int, marks)))
        bad |= judge_state(replica, database, where, applied)
    print("%d records, %d rows, changes up to %d applied" % (store.count, sum(map(len, store.rows)), applied & (1 << 48) - 1))
    sys.exit(bad)


main()
