"""rejected - batches that nobody can read, of a sender with a key.

Usage: rejected.py send LISTENER KEYFILE LEDGER ROUND: some of them between honest
ones; what was acknowledged, into LEDGER.
rejected.py judge LEDGER REJECTED.jsonl EVENTS.jsonl STATUS.json QUOTA...: is it there?
One quota a round; the stored part is calculated here once more.
SPDX-License-Identifier: MIT
"""

import hashlib
import json
import os
import random
import sys
import time

from batches import Hand, event
from honest import keyed_agent
from peer import BUSY, NACK, equal
from sender import DEAD, is_ack
import sender

STORED_OF_ONE = 128 << 10
PARTITION = "acct$pool"


def bodies(rng):
    """What is no record, or none that may be."""
    yield b"\xc1"
    for size in (20, 1000, 20000, 60000, 60000, 200000, 60000, 300):
        yield b"\xc1" + rng.randbytes(size - 1)
    good = event({"k": "v" * 100})
    yield good[:-1]
    yield good + b"\xc0"
    yield event({"deep": [[[[]]]]})
    yield event({"k": 1}, at=2**63 - 1)


def send(listener, keyfile, path, number):
    os.environ["HONEST_KEY"] = keyfile
    sender.agent = keyed_agent
    s = Hand(listener, "attacker-" + number, partition=PARTITION)
    n = 0
    with open(path, "a") as ledger:
        for body in bodies(random.Random(int(number))):
            for bad, content in ((True, body), (False, event({"n": n}, name="honest"))):
                n += 1
                answer = s.put(n, content, 1)
                while answer.type == NACK and answer.reason == BUSY:  # the broker's line is not up yet
                    time.sleep(answer.retry_ms / 1000)
                    answer = s.put(n, content, 1)
                is_ack(answer, n)
                assert bool(answer.flags & DEAD) == bad, "batch %d: flags %d" % (n, answer.flags)
                ledger.write(json.dumps({"session": s.session.hex(), "seq": n, "round": int(number),
                                         "body": content.hex() if bad else None}) + "\n")
    print("%d batches, every other one bad" % n)


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def who(r):
    return r["session"], r["seq"]


def judge(ledger, rejected, events, status, *quotas):
    sent = read(ledger)
    found_rows = {who(r): r for r in read(rejected)}
    honest = sorted(who(r) for r in read(events))
    equal(honest, sorted(who(r) for r in sent if r["body"] is None), "honest batches")
    bad = [r for r in sent if r["body"] is not None]
    equal(sorted(found_rows), sorted(who(r) for r in bad), "rejected batches")
    stored = cut = 0
    for r in bad:  # in the order of acknowledgement
        body, batch = bytes.fromhex(r["body"]), found_rows[who(r)]
        front = body[:STORED_OF_ONE]
        if stored + len(front) > int(quotas[r["round"]]):
            front = b""
        stored, cut = stored + len(front), cut + (len(front) < len(body))
        assert batch["reason"], batch
        equal((batch["kind"], batch["partition"], batch["node"], batch["bytes"], batch["sha256"]),
              ("rejected", PARTITION, "n1", len(body), hashlib.sha256(body).hexdigest()), "batch %d" % r["seq"])
        equal(batch["first_bytes"], front.hex(), "stored part of batch %d" % r["seq"])
    with open(status) as f:
        found = json.load(f)
    for rows in (found["store"], found["partitions"][PARTITION]):
        equal((rows["records_rejected"], rows["rejected_bytes"], rows["rejected_cut"]), (len(bad), stored, cut), "status")
    print("%d batches, %d bytes of %d stored, %d batches cut" % (
        len(bad), stored, sum(len(r["body"]) // 2 for r in bad), cut))
    assert 0 < cut < len(bad), "nothing to judge"


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
