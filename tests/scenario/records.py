"""records - sends the records of a story to an aggregator, as an agent would.

Usage: records.py ENDPOINT PARTITION < LINES

Each line is a record; blank lines and lines that begin with # are skipped.
Times are seconds since the epoch of the story, which is BASE (default
1,700,000,000: 2023-11-14 22:13:20 UTC); they may have a fraction.

    event  TIME NODE SOURCE:NAME [KEY=VALUE ...]
    span   BEGIN END NODE TRACK NAME [KEY=VALUE ...]
    group  NODE GROUP COLUMN:UNIT:TYPE ...     TYPE is gauge or counter
    define NODE GROUP COLUMN:UNIT:TYPE ...     the same, but exactly so
    sample TIME NODE GROUP VALUE ...           "-" is an unknown value
    entity NODE KIND ID [KEY=VALUE ...]
    gap    FROM TO NODE CLASS REASON COUNT
    garbage BYTES NODE                         bytes that are no record
    bye    NODE                                the node stops, or is retired: no record
    ----                                       the next batch begins here

The columns of an agent's own group (cpu, disk/NAME ...) may be some of them, in any
order: all of them are sent, and the values of the others are unknown.

A value that looks like a number is one.  A session sends the records in the order
of the lines; every call opens a session of its own.  The frames are built from
proto/wire.md by tests/flow/peer.py and msgpack: no code of the programs that are
tested.  Returns when the aggregator has acknowledged everything.
SPDX-License-Identifier: MIT
"""

import os
import re
import struct
import sys

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
from peer import ACK, BATCH, BYE, HELLO, VERSION, WELCOME, agent, crc32c, recv_answer, running_hash  # noqa: E402

BASE_NS = int(os.environ.get("BASE", "1700000000")) * 10 ** 9
BATCH_RECORDS = 1000


def time_ns(word):
    """Exact: seconds with up to nine digits after the point."""
    sign = -1 if word.startswith("-") else 1
    whole, _, fraction = word.lstrip("-").partition(".")
    return BASE_NS + sign * (int(whole) * 10 ** 9 + int((fraction + "000000000")[:9]))


def value(word):
    if word == "-":
        return None
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word


def pairs(words):
    return {key: value(text) for key, _, text in (word.partition("=") for word in words)}


def event(at, _node, name, *rest):
    source, _, name = name.partition(":")
    return [1, time_ns(at), source, name, pairs(rest), None]


def span(begin, end, _node, track, name, *rest):
    return [3, time_ns(begin), time_ns(end), track, name, "", pairs(rest)]


def built_in():
    """The columns of each of the agent's own groups, as words of a definition."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../proto/metric/metric_groups.def")
    source = open(path).read().replace("\nBOOT\n", '\nGAUGE(BOOT, "poolscope.boot", "1")\n')
    column = re.compile(r'^(COUNTER|GAUGE)\(\w+, "([^"]*)", "([^"]*)"\)', re.M)
    return {prefix: [":".join((metric, unit, kind.lower())) for kind, metric, unit in column.findall(body)]
            for prefix, body in re.findall(r'^GROUP\(\w+, "([^"]*)"\)\n(.*?)^END', source, re.S | re.M)}


def define(_node, name, *columns):
    places.pop(name, None)
    columns = [column.rsplit(":", 2) for column in columns]
    names, units, types = (" ".join(part) for part in zip(*columns))
    return [4, "set", name, {"names": names, "units": units, "types": types}]


def group(_node, name, *columns):
    own = BUILT_IN.get(name.partition("/")[0] + ("/" if "/" in name else ""), [])
    if not all(column in own for column in columns):
        return define(_node, name, *columns)
    made = define(_node, name, *own)
    places[name] = [own.index(column) for column in columns]
    return made


def sample(at, _node, name, *values):
    values = [value(word) for word in values]
    if name in places:
        given, values = values, [None] * (max(places[name]) + 1)
        for place, number in zip(places[name], given):
            values[place] = number
    return [2, time_ns(at), name, values]


def entity(_node, kind, name, *rest):
    return [4, kind, name, pairs(rest)]


def gap(begin, end, _node, class_, reason, count):
    return [5, time_ns(begin), time_ns(end), class_, reason, int(count)]


def garbage(size, _node):
    return msgpack.ExtType(1, bytes(int(size)))


places = {}  # of the values that a story gives, in a sample of the agent's own groups
BUILT_IN = built_in()
KINDS = {"event": (event, 1), "span": (span, 2), "group": (group, 0), "define": (define, 0),
         "sample": (sample, 1), "entity": (entity, 0), "gap": (gap, 2), "garbage": (garbage, 1)}


def batches(lines):
    """(body, records) of each batch; (node, None) of each bye."""
    body, count, node = b"", 0, None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in ("----", "bye") or count == BATCH_RECORDS:
            if count:
                yield body, count
            body, count, node = b"", 0, None
            if words[0] == "bye":
                yield words[1], None
            if words[0] in ("----", "bye"):
                continue
        try:
            make, at = KINDS[words[0]]
            words = words[1:]
            if words[at] != node:
                node = words[at]
                body += msgpack.packb([0, node])
            body += msgpack.packb(make(*words))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            sys.exit("line %d: %s: %s" % (number, line.strip(), error))
        count += 1
    if count:
        yield body, count


def frame(kind, session, seq, before, body=b"", records=0, node="story"):
    header = [sys.argv[2], node, session, seq, records, 0, 0, len(body), before, 0, 0, 0, 0, 0,
              0, 0, 0]
    rest = msgpack.packb(header) + body
    head = struct.pack("<4sBBHI", b"PSCP", VERSION, kind, 0, len(rest))
    return head + struct.pack("<I", crc32c(head + rest)) + rest


def ask(socket, data, wanted):
    socket.send(data)
    answer = recv_answer(socket)
    if answer.type != wanted:
        sys.exit("the aggregator refused a batch: type %d, reason %d" % (answer.type, answer.reason))


def main():
    session, before = os.urandom(16), 0
    socket = agent(sys.argv[1])
    ask(socket, frame(HELLO, session, 1, 0), WELCOME)
    seq = 0
    for body, records in batches(sys.stdin):
        if records is None:
            ask(socket, frame(BYE, bytes(16), 0, 0, node=body), ACK)
            continue
        seq += 1
        ask(socket, frame(BATCH, session, seq, before, body, records), ACK)
        before = running_hash(before, body, records)


main()
