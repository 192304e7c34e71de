"""judge - what a store's journal really holds, read without our code.

python3-lmdb and python3-msgpack read the entries as proto/store.md describes
them ("At rest", "Message", "Records"); checksums and the running hash are computed
here.  What the journal says is held against a ledger.
SPDX-License-Identifier: MIT
"""
import json
import struct

import lmdb
import msgpack

from pool import BATCH, BYE, VERSION, Failed, crc32c

GAP, EVENT, CONTEXT = 7, 1, 0
MASK = (1 << 64) - 1


def mix(x):
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd & MASK
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53 & MASK
    return x ^ x >> 33


def hash_after(hash_before, body, records):
    x = mix(hash_before ^ (crc32c(body) << 32 | len(body)))
    return mix((x + records + 1) & MASK)


class Stream:
    def __init__(self):
        self.last_seq, self.hash, self.records = 0, 0, 0
        self.stated = False  # that it is there stands in the streams, too


class Journal:
    """The entries of a store, in order, each checked."""

    def __init__(self, path):
        self.streams = {}  # (partition, session): Stream
        self.events = []   # (partition, node, source, name, attributes)
        self.entries = 0
        self.faults = []
        self.last = None
        self.env = lmdb.open(path + "/journal", readonly=True, max_dbs=8,
                             map_size=1 << 36)
        self.tables = [self.env.open_db(name, create=False) for name in (b"entries", b"streams")]
        self.read()

    def close(self):
        self.env.close()

    def read(self):
        """What came since."""
        with self.env.begin() as txn:
            cursor = txn.cursor(self.tables[0])
            there = cursor.first() if self.last is None else \
                cursor.set_range((self.last + 1).to_bytes(8, "big"))
            for key, value in cursor if there else ():
                number = int.from_bytes(key, "big")
                if self.last is not None and number != self.last + 1:
                    self.faults.append("entry %d follows %d" % (number, self.last))
                self.last = number
                self.entry(number, self.opened(b"entries", key, value))
            for stream in self.streams.values():
                stream.stated = False
            for key, value in txn.cursor(self.tables[1]):
                self.stream(key, self.opened(b"streams", key, value))
        self.faults += ["entries of a stream that is not there: %s" % (key,)
                        for key, stream in self.streams.items() if not stream.stated]

    def opened(self, table, key, value):
        if struct.unpack("<I", value[-4:])[0] != crc32c(table + key, value[:-4]):
            raise Failed("journal: the checksum of %s in %s is wrong" % (key.hex(), table.decode()))
        return value[:-4]

    def entry(self, number, value):
        flags, fault, _, _, _, _, first, _ = struct.unpack("<BBHIqQQQ", value[:40])
        data = value[40:]
        magic, version, kind, _, length, crc = struct.unpack("<4sBBHII", data[:16])
        if magic != b"PSCP" or version != VERSION or length != len(data) - 16 or \
                crc != crc32c(data[:12], data[16:]):
            raise Failed("journal: entry %d is no frame" % number)
        unpacker = msgpack.Unpacker(raw=False)
        unpacker.feed(data[16:])
        header = unpacker.unpack()
        body = data[16 + unpacker.tell():]
        self.entries += 1
        if kind == BYE:
            # A node stopped: nothing of it is numbered.
            if header[3] != 0 or body or flags or fault:
                self.faults.append("entry %d is a bye with a number or records" % number)
            return
        key = header[0], bytes(header[2])
        stream = self.streams.setdefault(key, Stream())
        if flags or fault:
            self.faults.append("entry %d is a rejected batch" % number)
        if kind == GAP:
            self.faults.append("entry %d is a gap" % number)
        if kind not in (BATCH, GAP):
            raise Failed("journal: entry %d is of type %d" % (number, kind))
        if header[3] != stream.last_seq + 1 or first != header[3]:
            self.faults.append("entry %d: number %d (from %d) follows %d in %s" %
                               (number, header[3], first, stream.last_seq, key))
        if header[8] != stream.hash:
            self.faults.append("entry %d: another running hash" % number)
        stream.last_seq = header[3]
        stream.hash = hash_after(stream.hash, body, header[4])
        self.records(number, header, body)

    def records(self, number, header, body):
        if header[5] != 0:
            raise Failed("journal: entry %d is compressed" % number)
        node, count = header[1], 0
        unpacker = msgpack.Unpacker(raw=False)
        unpacker.feed(body)
        for record in unpacker:
            if record[0] == CONTEXT:
                node = record[1] or header[1]
                continue
            count += 1
            if record[0] == EVENT:
                self.events.append((header[0], node, record[2], record[3], record[4] or {}))
        if count != header[4]:
            self.faults.append("entry %d: %d records, not %d" % (number, count, header[4]))

    def stream(self, key, value):
        name = key[16:].decode(), key[:16]
        last_seq = struct.unpack("<Q", value[:8])[0]
        if name not in self.streams:
            if last_seq != 0:
                self.faults.append("stream %s: %d batches and no entry" % (name, last_seq))
            return
        self.streams[name].stated = True
        if self.streams[name].last_seq != last_seq:
            self.faults.append("stream %s: %d, not %d" % (name, last_seq, self.streams[name].last_seq))


class Ledger:
    """What was sent by name, and whether it was accepted."""

    def __init__(self):
        self.accepted, self.submitted = {}, {}

    def send(self, name, value):
        self.submitted[name] = value

    def accept(self, name):
        self.accepted[name] = self.submitted.pop(name)


def write_old_rows(path, names, ledger, rng):
    """A file of rows as an older recorder left them, each with a value that
    the ledger knows as sent."""
    with open(path, "w") as file:
        for row, name in enumerate(names):
            value = "%x" % rng.getrandbits(64)
            ledger.send(name, value)
            file.write(json.dumps({
                "node": "n%d" % (row % 7), "source": "old", "event": "row",
                "ts": "15%08d.25" % row, "clock_us": None, "prefix": "shipyard",
                "message": "%s=%s" % (name, value)}) + "\n")


class Verdict:
    """What is wrong between a journal and ledgers: pairs of what finds the
    name and value in (partition, node, source, name, attributes), or None, and
    the ledger."""

    def __init__(self, journal, ledgers):
        stored = [{} for _ in ledgers]
        self.twice, self.phantoms, self.changed = [], [], []
        for event in journal.events:
            for place, (find, ledger) in enumerate(ledgers):
                found = find(event)
                if found is None:
                    continue
                key, value = found
                if key in stored[place]:
                    self.twice.append(key)
                stored[place][key] = value
                if key not in ledger.accepted and key not in ledger.submitted:
                    self.phantoms.append(key)
                elif ledger.accepted.get(key, ledger.submitted.get(key)) != value:
                    self.changed.append(key)
        self.lost = [key for place, (_, ledger) in enumerate(ledgers)
                     for key in ledger.accepted if key not in stored[place]]
        self.faults = journal.faults
        self.stored = sum(len(s) for s in stored)
        self.accepted = sum(len(ledger.accepted) for _, ledger in ledgers)
        self.submitted = sum(len(ledger.submitted) for _, ledger in ledgers)

    def wrong(self):
        """None, or the first of each kind."""
        found = {name: getattr(self, name)[:3] for name in
                 ("lost", "twice", "phantoms", "changed", "faults") if getattr(self, name)}
        return found or None

    def __str__(self):
        return ("%d accepted, %d unanswered, %d stored; %d lost, %d twice, %d phantom" %
                (self.accepted, self.submitted, self.stored, len(self.lost), len(self.twice),
                 len(self.phantoms)))


def judge_journal(oracle, store, ledgers, name):
    journal = Journal(store)
    verdict = Verdict(journal, ledgers)
    print("%s: journal of %d entries, %d streams: %s" %
          (name, journal.entries, len(journal.streams), verdict))
    oracle.check(not verdict.faults, name + ": every stream of the journal is whole",
                 verdict.faults[:5])
    oracle.check(not verdict.lost, name + ": nothing accepted is missing in the journal",
                 verdict.lost[:10])
    oracle.check(not verdict.twice, name + ": nothing is in the journal twice",
                 verdict.twice[:10])
    oracle.check(not verdict.phantoms and not verdict.changed,
                 name + ": the journal has only what was sent",
                 (verdict.phantoms[:5], verdict.changed[:5]))
    journal.close()


def of_load(event):
    """What finds the records of a pool.Load."""
    return (event[4]["number"], event[4]["payload"]) if "number" in event[4] else None
