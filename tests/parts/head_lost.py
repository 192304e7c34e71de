"""head_lost - events through many agents, and whether each is there once.

    head_lost.py load DIR AGENTS SEED FLAG LEDGER
        while FLAG exists: numbered events to the agents of DIR/0, DIR/1 ...; then
        what they accepted, and what they never answered, is in LEDGER
    head_lost.py judge LEDGER DUMP
        DUMP is of poolscope-dump --kind event,gap --format jsonl

The ledger is fault/pool.py's, of each agent; an event is known by its node and
number, its content by its payload, its place by session, sequence and index.
SPDX-License-Identifier: MIT
"""
import collections
import json
import os
import random
import sys
import time
import types

import msgpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault"))
from pool import Load  # noqa: E402


class Hours(Load):
    """Ten seconds of the past after the other."""

    def record(self):
        number, payload, packed = super().record()
        fields = msgpack.unpackb(packed, raw=False)
        fields[1] += number * 10**10
        return number, payload, msgpack.packb(fields, use_bin_type=True)


def load(folder, agents, seed, flag, ledger):
    pick = random.Random(seed)
    loads = [Hours(types.SimpleNamespace(dir="%s/%d" % (folder, i)), pick.getrandbits(32))
             for i in range(agents)]
    while os.path.exists(flag):
        for each in pick.sample(loads, min(20, agents)):
            each.put([each.record() for _ in range(pick.randint(1, 8))])
        time.sleep(0.02)
    with open(ledger, "w", encoding="utf-8") as file:
        json.dump([{"accepted": each.accepted, "unanswered": each.submitted} for each in loads],
                  file)
    print("%d events of %d agents accepted, %d not answered, %d puts refused" % (
        sum(len(each.accepted) for each in loads), agents,
        sum(len(each.submitted) for each in loads), sum(each.refused for each in loads)))


def judge(ledger, dump):
    with open(ledger, encoding="utf-8") as file:
        books = json.load(file)
    accepted = {("n%d" % node, int(number)): payload for node, book in enumerate(books)
                for number, payload in book["accepted"].items()}
    known = {("n%d" % node, int(number)): payload for node, book in enumerate(books)
             for number, payload in book["unanswered"].items()}
    known.update(accepted)
    there, places, gaps = collections.Counter(), collections.Counter(), []
    phantom, changed = [], []
    with open(dump, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["kind"] != "event":
                gaps.append((row["kind"], row.get("reason"), row.get("count")))
                continue
            if "number" not in row["attributes"]:
                continue  # of an agent itself
            event = row["node"], int(row["attributes"]["number"])
            there[event] += 1
            places[row["session"], row["seq"], row["index"]] += 1
            if event not in known:
                phantom.append(event)
            elif known[event] != row["attributes"]["payload"]:
                changed.append(event)
    lost = [event for event in accepted if event not in there]
    twice = [event for event, count in there.items() if count > 1]
    twice += [place for place, count in places.items() if count > 1]
    # What a restore says of senders that are gone, of whom there are none.
    wrong = [gap for gap in gaps if gap != ("gap", "since-backup", 0)]
    print("%d accepted, %d there: %d lost, %d twice, %d phantom, %d changed, %d gaps" % (
        len(accepted), len(there), len(lost), len(twice), len(phantom), len(changed), len(wrong)))
    for what in (lost, twice, phantom, changed, wrong):
        if what:
            print("   ", what[:5])
    return 1 if lost or twice or phantom or changed or wrong or not accepted else 0


if __name__ == "__main__":
    if sys.argv[1] == "load":
        load(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6])
    else:
        sys.exit(judge(sys.argv[2], sys.argv[3]))
