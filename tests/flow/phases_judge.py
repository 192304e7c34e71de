"""phases_judge - phases without a model, by poolscope-model(5), from the events alone.

    phases_judge.py make SEED DIR     write events in random order into DIR/1, DIR/2 ...
    phases_judge.py judge DIR         print the phases of these events
    phases_judge.py print             print those of a dump of phases (JSON lines) on stdin

A line of a phase is NODE NAME KEY START END, sorted; "-" stands for what is not there.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import re
import sys

KEYS = ["id", "key", "img", "step"]
NAMES = ["build", "ci:test", "ci:pack", "a:b:c", "push", "wait"]
ENDINGS = [(":start", ":end"), ("-start", "-end"), ("-begin", "-end"), (":begin", ":end")]
BASE_NS = 1700000000 * 10 ** 9


def make(seed, folder):
    """Each name has attributes of its own, on its starts and on its ends; some events have
    them not.  Of some names each event has an id of its own, and once in a while an id of another."""
    chance = random.Random(seed)
    events = []
    for name in NAMES:
        start, end = chance.choice(ENDINGS if ":" in name else ENDINGS[::3])
        of_start = chance.sample(KEYS, chance.randint(0, 3))
        of_end = chance.sample(KEYS, chance.randint(0, 3))
        own_id = chance.random() < 0.3
        if own_id:
            of_start = of_end = ["id"] + chance.sample(KEYS[1:], 2)
        again = chance.choice([0, 0, 0.02])
        often = chance.choice([0.1, 0.8, 1])
        for number in range(chance.randint(20, 200)):
            is_end = chance.random() < 0.5
            full = name + (end if is_end else start)
            having = [key for key in (of_end if is_end else of_start) if chance.random() < often]
            values = {key: chance.choice(["a", "b", "7", "2.5"]) for key in having}
            if own_id and "id" in values:
                values["id"] = chance.randrange(number + 1) if chance.random() < again else number
            pairs = ["%s=%s" % pair for pair in values.items()]
            events.append("event %d n%d %s %s" % (chance.randrange(1, 2000), chance.randint(1, 3), full, " ".join(pairs)))
    chance.shuffle(events)
    parts = chance.randint(3, 8)
    for part in range(parts):
        with open(os.path.join(folder, str(part + 1)), "w") as file:
            for i, line in enumerate(events[part::parts]):
                file.write(line + "\n" + ("----\n" if i % chance.randint(5, 60) == 0 else ""))


def read(folder):
    for part in os.listdir(folder):
        with open(os.path.join(folder, part)) as file:
            for line in file:
                words = line.split()
                if words[0] == "event":
                    found = re.match(r"(.*)[:-](start|begin|end)$", words[3])
                    yield (int(words[1]), words[2], found.group(1), found.group(2) == "end",
                           dict(pair.split("=") for pair in words[4:]))


def pair(times):
    """[(time, is_end)] of one name, node and key; the rule for equal times is that of
    proto/record/pairing.h."""
    waits = None
    for time in sorted({time for time, _ in times}):
        ends = sum(1 for at, is_end in times if at == time and is_end)
        starts = sum(1 for at, is_end in times if at == time and not is_end)
        if waits is not None and ends > 0:
            yield waits, time
            waits, ends = None, ends - 1
        both = min(starts, ends)
        for _ in range(both):
            yield time, time
        for _ in range(ends - both):
            yield "-", time
        for _ in range(starts - both):
            if waits is not None:
                yield waits, "-"
            waits = time
    if waits is not None:
        yield waits, "-"


def key_of(events):
    """The attribute that events of one name pair by; None: by none."""
    starts = [event for event in events if not event[3]]
    ends = [event for event in events if event[3]]
    for key in KEYS:
        if any(key in s[4] and s[4][key] == e[4].get(key) and s[1] == e[1] and s[0] <= e[0]
               for s in starts for e in ends):
            return key
    for key in KEYS:
        if all(any(key in event[4] for event in kind) for kind in (starts, ends) if kind):
            return key
    return None


def judge(folder):
    events = list(read(folder))
    states = {}
    for name in {event[2] for event in events}:
        of_name = [event for event in events if event[2] == name]
        by = key_of(of_name)
        for time, node, _, is_end, pairs in of_name:
            states.setdefault((node, name, pairs.get(by, "-")), []).append((time, is_end))
    return ["%s %s %s %s %s" % (*state, *found) for state, times in states.items() for found in pair(times)]


def printed():
    def seconds(text):
        return "-" if text is None else (int(text) - BASE_NS) // 10 ** 9
    for line in sys.stdin:
        at = json.loads(line)
        if at.get("model") == "none":
            yield "%s %s %s %s %s" % (
                at["node"], at["phase"], at["key"] or "-", seconds(at["begin_ns"]), seconds(at["end_ns"]))


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    print("\n".join(sorted(judge(sys.argv[2]) if sys.argv[1] == "judge" else printed())))
