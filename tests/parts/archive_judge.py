"""archive_judge - is the archive on each replica what the store is?

	archive_judge.py STORE PASSWORD-FILE DATABASE EPOCH PORT PORT PORT PORT

The ports are those of s1r1 s1r2 s2r1 s2r2.  archive_rows reads the store; all that
is known here of an archive is asked in SQL:

* each record is on both replicas of the shard of its node and hour, once for its
  identity, and nothing is there that the store does not have;
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
TRACKS = ("samples", "spans")
IDENTITY = ("toString(part), toString(hour), if(node = '', '-', hex(node)), %s, toString(ts), hex(session), "
            "toString(seq), toString(idx)")
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


def siphash(data):
    """SipHash-2-4 with a zero key, as sipHash64 of ClickHouse."""
    v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]

    def turn(x, bits):
        return (x << bits | x >> 64 - bits) & MASK

    def mix(times):
        for _ in range(times):
            v[0] = v[0] + v[1] & MASK
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = v[2] + v[3] & MASK
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & MASK
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & MASK
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at:at + 8], "little")
        v[3] ^= word
        mix(2)
        v[0] ^= word
    v[2] ^= 0xff
    mix(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Store:
    """What archive_rows prints."""

    def __init__(self, path):
        self.records = [collections.defaultdict(set) for _ in range(SHARDS)]
        self.names = [set() for _ in range(SHARDS)]
        self.hashes = {}
        self.count = 0
        printed = subprocess.run([os.environ["B"] + "/parts/archive_rows", path], stdout=subprocess.PIPE, check=True)
        for line in printed.stdout.decode().splitlines():
            what, *words = line.split(" ")
            if what == "r":
                self.record(words)
            elif what == "n":
                self.names[int(words[0]) % SHARDS].add(tuple(words))

    def record(self, words):
        kind, part, hour, node = int(words[0]), int(words[1]), int(words[2]), words[3]
        if node not in self.hashes:
            self.hashes[node] = siphash(bytes.fromhex(node.replace("-", "")))
        shard = (part ^ self.hashes[node] ^ hour * 0xc2b2ae3d27d4eb4f & MASK) * 0x9e3779b97f4a7c15 & MASK
        table = self.records[(shard >> 32) % SHARDS][kind]
        identity = tuple(words[1:])
        if identity in table:
            print("the store has a record twice:", kind, identity)
        table.add(identity)
        self.count += 1


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
        track = "if(track = '', '-', hex(track))" if table in TRACKS else "'-'"
        rows = replica.ask("SELECT DISTINCT %s FROM %s.%s" % (IDENTITY % track, database, table))
        bad |= difference("%s of %s" % (table, where), store[kind], set(map(tuple, rows)))
        once = int(replica.ask("SELECT count() FROM %s.%s FINAL" % (database, table))[0][0])
        if once != len(rows):
            print("%s of %s: %d rows of %d identities" % (table, where, once, len(rows)))
            bad = True
    return bad


def judge_names(replica, database, where, store, shard):
    names = replica.ask("SELECT DISTINCT toString(part), toString(no), hex(name) FROM %s.names FINAL" % database)
    return difference("names of %s" % where, store.names[shard], set(map(tuple, names)))


def main():
    path, password, database, epoch, *ports = sys.argv[1:]
    secret = open(password).read().strip()
    replicas = [Replica(port, secret) for port in ports]
    store = Store(path)
    home = replicas[int(epoch) % SHARDS * 2:][:2]
    marks = {replica.ask("SELECT max(pos) FROM %s.commits WHERE part = 0 AND intDiv(pos, 281474976710656) = %s" % (database, epoch))[0][0]
             for replica in home}
    bad = len(marks) != 1
    if bad:
        print("the replicas have different commits:", *marks)
    for i, replica in enumerate(replicas):
        where = "shard %d, replica %d" % (i // 2 + 1, i % 2 + 1)
        bad |= judge_records(replica, database, where, store.records[i // 2])
        bad |= judge_names(replica, database, where, store, i // 2)
    print("%d records, %d names" % (store.count, sum(map(len, store.names))))
    sys.exit(bad)


main()
