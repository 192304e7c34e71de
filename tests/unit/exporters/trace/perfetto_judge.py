# trace_proto_judge - reads a Perfetto trace from nothing but the rules of
# protocol buffers and the numbers of the fields, and prints what is in it, a
# line a thing, sorted:
#
#	clock ID NS
#	about NAME VALUE
#	process PID PLACE NAME
#	thread PID TID PLACE NAME
#	slice TID BEGIN DURATION CATEGORY NAME [KEY=TYPE:VALUE ...]
#	instant TID TIME CATEGORY NAME [KEY=TYPE:VALUE ...]
#	counter PID NAME UNIT TIME VALUE
#
# SPDX-License-Identifier: MIT
import struct
import sys
import zlib


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                assert shift <= 70 and value < 1 << 64
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value = struct.unpack_from('<d', data, at)[0]
            at += 8
        elif kind == 2:
            size = varint()
            value = data[at:at + size]
            assert len(value) == size
            at += size
        else:
            raise ValueError(f'wire type {kind}')
        yield tag >> 3, value


def first(data):
    """The fields as a dict; lists where a field is repeated."""
    found = {}
    for field, value in fields(data):
        found.setdefault(field, []).append(value)
    return found


def packets(data):
    for field, packet in fields(data):
        assert field == 1
        compressed = [v for f, v in fields(packet) if f == 50]
        if compressed:
            [block] = compressed
            yield from packets(zlib.decompress(block))
        else:
            yield first(packet)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


lines, events, threads, counters = [], [], {}, {}
categories, names, keys = {}, {}, {}
knows_nothing = True
for order, packet in enumerate(packets(open(sys.argv[1], 'rb').read())):
    assert packet.pop(10) == [1]
    [flags] = packet.pop(13, [0])
    if flags & 1:
        categories, names, keys = {}, {}, {}
        knows_nothing = False
    assert not knows_nothing
    for data in packet.pop(12, []):
        for field, item in fields(data):
            table = {1: categories, 2: names, 3: keys}[field]
            [iid], [name] = first(item)[1], first(item)[2]
            assert iid > 0 and iid not in table
            table[iid] = name.decode()
    time = packet.pop(8, [None])[0]
    for data in packet.pop(6, []):
        snapshot = first(data)
        assert snapshot.pop(2) == [6] and time == 0
        for clock in snapshot.pop(1):
            lines.append('clock %d %d' % (first(clock)[1][0], first(clock)[2][0]))
        assert not snapshot
    for data in packet.pop(5, []):
        for field, one in fields(data):
            assert field == 2
            lines.append('about %s %s' % (first(one)[1][0].decode(), first(one)[2][0].decode()))
    for data in packet.pop(60, []):
        track = first(data)
        [uuid] = track.pop(1)
        if 3 in track:
            process = first(track.pop(3)[0])
            assert process[1] == [uuid] and track.pop(12) == process[3]
            lines.append('process %d %d %s' % (uuid, process[3][0], process[6][0].decode()))
        elif 4 in track:
            thread = first(track.pop(4)[0])
            assert thread[2] == [uuid] and thread[1] == track.pop(5)
            assert track.pop(12) == thread[3]
            assert uuid not in threads
            threads[uuid] = thread[1][0]
            lines.append('thread %d %d %d %s' % (thread[1][0], uuid, thread[3][0], thread[5][0].decode()))
        else:
            unit = first(track.pop(8)[0]).get(6, [b''])[0].decode()
            assert uuid not in counters
            counters[uuid] = (track.pop(5)[0], track.pop(2)[0].decode(), unit)
        assert not track, track
    for data in packet.pop(11, []):
        event = first(data)
        [kind], [track] = event.pop(9), event.pop(11)
        text = ''
        if kind in (1, 3):
            assert flags & 2
            category = categories[event.pop(3)[0]] if 3 in event else ''
            text = '%s %s' % (category, names[event.pop(10)[0]])
            for annotation in event.pop(4, []):
                a = first(annotation)
                [key] = a.pop(1)
                [(field, [value])] = a.items()
                shown = {2: lambda v: 'bool:%d' % v, 3: lambda v: 'uint:%d' % v,
                         4: lambda v: 'int:%d' % signed(v), 5: lambda v: 'double:%r' % v,
                         6: lambda v: 'text:' + v.decode()}[field](value)
                text += ' %s=%s' % (keys[key], shown)
        elif kind == 4:
            pid, name, unit = counters[track]
            lines.append('counter %d %s %s %d %r' % (pid, name, unit, time, event.pop(44)[0]))
        assert not event, event
        if kind in (1, 2):
            events.append((time, order, kind, track, text))
        elif kind == 3:
            lines.append('instant %d %d %s' % (track, time, text))
    assert not packet, packet

# By time; of one time, in the order of the file.
open_slices = {}
for time, _, kind, track, text in sorted(events):
    stack = open_slices.setdefault(track, [])
    if kind == 1:
        stack.append((time, text))
    else:
        began, what = stack.pop()
        lines.append('slice %d %d %d %s' % (track, began, time - began, what))
assert not any(open_slices.values())
print('\n'.join(sorted(lines)))
