"""dead - batches that nobody can read, of a sender who has a key.

Usage: rejected.py send DOOR KEYFILE LEDGER ROUND: some of them between honest
ones; what was acknowledged, into LEDGER.
rejected.py judge LEDGER DEAD.jsonl EVENTS.jsonl STATUS.json QUOTA...: is it there?
One quota a round; what is kept is reckoned here once more.
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

KEPT_OF_ONE = 128 << 10
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


def send(door, keyfile, path, number):
    os.environ["HONEST_KEY"] = keyfile
    sender.agent = keyed_agent
    s = Hand(door, "poisoner-" + number, partition=PARTITION)
    n = 0
    with open(path, "a") as ledger:
        for body in bodies(random.Random(int(number))):
            for dead, content in ((True, body), (False, event({"n": n}, name="honest"))):
                n += 1
                answer = s.put(n, content, 1)
                while answer.type == NACK and answer.reason == BUSY:  # the broker's line is not up yet
                    time.sleep(answer.retry_ms / 1000)
                    answer = s.put(n, content, 1)
                is_ack(answer, n)
                assert bool(answer.flags & DEAD) == dead, "batch %d: flags %d" % (n, answer.flags)
                ledger.write(json.dumps({"session": s.session.hex(), "seq": n, "round": int(number),
                                         "body": content.hex() if dead else None}) + "\n")
    print("%d batches, every other one poison" % n)


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def who(r):
    return r["session"], r["seq"]


def judge(ledger, dead, events, status, *quotas):
    sent = read(ledger)
    letters = {who(r): r for r in read(dead)}
    honest = sorted(who(r) for r in read(events))
    equal(honest, sorted(who(r) for r in sent if r["body"] is None), "honest batches")
    poison = [r for r in sent if r["body"] is not None]
    equal(sorted(letters), sorted(who(r) for r in poison), "dead letters")
    kept = cut = 0
    for r in poison:  # in the order of acknowledgement
        body, letter = bytes.fromhex(r["body"]), letters[who(r)]
        front = body[:KEPT_OF_ONE]
        if kept + len(front) > int(quotas[r["round"]]):
            front = b""
        kept, cut = kept + len(front), cut + (len(front) < len(body))
        assert letter["reason"], letter
        equal((letter["kind"], letter["partition"], letter["node"], letter["bytes"], letter["sha256"]),
              ("rejected", PARTITION, "n1", len(body), hashlib.sha256(body).hexdigest()), "letter %d" % r["seq"])
        equal(letter["first_bytes"], front.hex(), "what is kept of letter %d" % r["seq"])
    with open(status) as f:
        found = json.load(f)
    for rows in (found["store"], found["partitions"][PARTITION]):
        equal((rows["records_rejected"], rows["rejected_bytes"], rows["rejected_cut"]), (len(poison), kept, cut), "status")
    print("%d letters, %d bytes of %d kept, %d letters cut" % (
        len(poison), kept, sum(len(r["body"]) // 2 for r in poison), cut))
    assert 0 < cut < len(poison), "nothing to judge"


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
