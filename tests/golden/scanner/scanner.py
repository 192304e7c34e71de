#!/usr/bin/env python3
"""Judges what poolscope makes of profiles; Python's standard library only.

  scanner.py trace EXPECTED GOT     events as recorded, in their order; rows sort
                                    event loop, readers, pipelines, writers; no
                                    two intervals of a row overlap in part
  scanner.py files DB JOB GOT       the same against the files themselves
  scanner.py sha SUMMARY GOT        a trace's digest with the older tool's places
                                    of the rows in it
  scanner.py stats EXPECTED STATS   the older tool's numbers follow from those of
                                    poolscope-stats, text for text
  scanner.py sums GOT STATS         they are what the trace's intervals come to
  scanner.py interval CASE STATS    the job's first worker began and ended then

A trace is a file of events, or a .tar.gz of one.  Exit status 0: it conforms;
1: it does not, and standard output says where.
SPDX-License-Identifier: MIT
"""
import calendar
import datetime
import decimal
import hashlib
import json
import os
import struct
import sys
import tarfile
from itertools import chain, zip_longest

GREY = ('Wait on Input Queue', 'Wait on Output Queue')


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def lines_of(path):
    if not path.endswith('.tar.gz'):
        with open(path, encoding='utf-8') as file:
            yield from file
        return
    with tarfile.open(path) as tar:
        members = tar.getmembers()
        name = os.path.basename(path)[:-len('.tar.gz')] + '.trace'
        if [m.name for m in members] != [name]:
            raise ValueError(f'members of the archive: {members}')
        for line in tar.extractfile(members[0]):
            yield line.decode('utf-8')


def events(path):
    """One by one: every event stands on a line of its own."""
    for line in lines_of(path):
        line = line.strip().rstrip(',')
        if line not in ('', '[', ']'):
            yield json.loads(line)


def without_lanes(path):
    """The events as the older tool has them: it draws the intervals of a thread
    on one row, also those that overlap in part."""
    thread, lanes = None, {}
    for e in events(path):
        key = (e['pid'], e.get('tid'))
        if e['name'] == 'thread_name' and e['ph'] == 'M':
            if e['args']['name'].endswith(')'):
                assert key not in lanes and key[0] == thread[0], e
                lanes[key] = thread[1]
            else:
                thread = key
        if key in lanes:
            if e['ph'] == 'M':
                continue
            e['tid'] = lanes[key]
        yield e


def nests(path):
    """Viewers leave out what overlaps in part."""
    rows = {}
    for e in events(path):
        if e['ph'] == 'X':
            begin = ns(e['ts'])
            rows.setdefault((e['pid'], e['tid']), []).append(
                (begin, -begin - ns(e['dur']), e['name']))
    for row, intervals in rows.items():
        ends = []
        for begin, end, name in sorted(intervals):
            while ends and ends[-1] <= begin:
                ends.pop()
            if ends and -end > ends[-1]:
                yield f'row {row}: {name} at {begin} ns overlaps in part'
                break
            ends.append(-end)


def ns(microseconds):
    whole = round(microseconds * 1000)
    if whole / 1000 != microseconds:
        raise ValueError(f'{microseconds!r} is not whole nanoseconds')
    return whole


def normal(event):
    event = dict(event)
    for key in ('ts', 'dur'):
        if key in event:
            event[key] = ns(event[key])
    return event


def rank(name):
    """Where a row belongs, from its name."""
    if name == 'EventLoop':
        return (0, 0, 0)
    number = int(name[name.index('[') + 1:name.index(']')])
    if name.startswith('Reader'):
        return (1, number, 0)
    if name.startswith('Writer'):
        return (3, number, 0)
    stage = name.split(':', 1)[1]
    places = {'DecodeVideo': 0, 'EncodeVideo': 1 << 20}
    return (2, number, places[stage] if stage in places else 1 + int(stage[4:-1]))


def check_rows(names, places):
    for pid in {p for p, _ in places}:
        rows = sorted((place, rank(names[key]))
                      for key, place in places.items() if key[0] == pid)
        if len({place for place, _ in rows}) != len(rows):
            yield f'process {pid}: two rows have one place'
        if [r for _, r in rows] != sorted(r for _, r in rows):
            yield f'process {pid}: the rows are not in order'


def same_events(want, got):
    names, places = {}, {}
    for i, (a, b) in enumerate(zip_longest(want, got)):
        if a is None or b is None:
            yield f'event {i}: {"one too many" if a is None else "missing"}'
            return
        a, b = normal(a), normal(b)
        key = (b['pid'], b.get('tid'))
        if b['name'] == 'thread_name' and b['ph'] == 'M':
            names[key] = b['args']['name']
        if b['name'] == 'thread_sort_index':
            places[key] = b['args'].pop('sort_index')
            a['args'].pop('sort_index')
        if a != b:
            yield f'event {i}: {a} wanted, {b} there'
            return
        if [k for k in b if k != 'cname'] != (
                ['name', 'ph', 'pid'] + ['tid'] * ('tid' in b) + ['args']
                if b['ph'] == 'M' else
                'name cat ph ts dur pid tid args'.split()):
            yield f'event {i}: its members are in another order: {list(b)}'
    yield from check_rows(names, places)


# ---- the files themselves ----

def text(data, at):
    end = data.index(b'\0', at)
    return data[at:end].decode('utf-8'), end + 1


def number(data, at):
    return struct.unpack_from('<q', data, at)[0], at + 8


def profiler(data, at):
    _, at = number(data, at)
    kind, at = text(data, at)
    tag, at = text(data, at)
    which, at = number(data, at)
    keys, (count, at) = {}, number(data, at)
    for _ in range(count):
        name, at = text(data, at)
        keys[data[at]] = name
        at += 1
    count, at = number(data, at)
    intervals = [(keys[i], a, b) for i, a, b in
                 struct.iter_unpack('<Bqq', data[at:at + 17 * count])]
    at += 17 * count
    count, at = number(data, at)
    for _ in range(count):
        _, at = text(data, at)
        at += 8
    return kind, tag, which, intervals, at


def meta(what, pid, tid, **args):
    event = {'name': what, 'ph': 'M', 'pid': pid, 'args': args}
    return event if tid is None else dict(event, tid=tid)


def spans(kind, pid, tid, intervals):
    for name, a, b in intervals:
        event = {'name': name, 'cat': kind, 'ph': 'X', 'pid': pid, 'tid': tid,
                 'ts': a / 1000, 'dur': (b - a) / 1000, 'args': {}}
        yield dict(event, cname='grey') if name in GREY else event


def threads(data):
    at = 16
    kind, _, _, intervals, at = profiler(data, at)
    yield 'EventLoop', kind, intervals
    readers, at = data[at], at + 1
    for _ in range(readers):
        kind, _, which, intervals, at = profiler(data, at)
        yield f'Reader[{which}]', kind, intervals
    pipelines, stages, at = data[at], data[at + 1], at + 2
    for _ in range(pipelines):
        for stage in range(stages):
            kind, tag, which, intervals, at = profiler(data, at)
            name = {'pre': 'DecodeVideo', 'post': 'EncodeVideo'}.get(
                tag, f'Ops[{stage - 1}]')
            yield f'Pipeline[{which}]:{name}', kind, intervals
    writers, at = data[at], at + 1
    for _ in range(writers):
        kind, _, which, intervals, at = profiler(data, at)
        yield f'Writer[{which}]', kind, intervals


def of_files(database, job):
    directory = f'{database}/jobs/{job}'
    try:
        with open(f'{directory}/profile_master.bin', 'rb') as file:
            kind, _, _, intervals, _ = profiler(file.read(), 16)
        yield meta('process_name', -1, None, name='Master')
        yield meta('thread_name', -1, 0, name='EventLoop')
        yield from spans(kind, -1, 0, intervals)
    except FileNotFoundError:
        pass
    tid = 0
    for pid in sorted(int(n[8:-4]) for n in os.listdir(directory)
                      if n[8:-4].isdigit()):
        yield meta('process_name', pid, None, name=f'Worker {pid}')
        with open(f'{directory}/profile_{pid}.bin', 'rb') as file:
            data = file.read()
        for name, kind, intervals in threads(data):
            yield meta('thread_name', pid, tid, name=name)
            yield meta('thread_sort_index', pid, tid, sort_index=0)
            yield from spans(kind, pid, tid, intervals)
            tid += 1


# ---- the digest ----

def older_places(path):
    """The place of each row as the older tool gets it wrong."""
    rows = {}
    for event in without_lanes(path):
        if event['name'] == 'thread_name':
            rows.setdefault(event['pid'], []).append(
                (event['tid'], event['args']['name']))
    for pid, named in rows.items():
        readers = sum(n.startswith('Reader') for _, n in named)
        stages = [n for _, n in named if n.startswith('Pipeline')]
        total = sum(7 if ':Ops' in n else 6 for n in stages)
        for x, name in named:
            if name == 'EventLoop':
                place = 0
            elif name.startswith('Reader'):
                place = 1 + x
            elif name.startswith('Writer'):
                place = 1 + readers + total + x
            else:
                place = 1 + readers + 6 * x + (
                    1 if ':Ops' in name else 2 if 'Encode' in name else 0)
            yield (pid, x), place


def sha(summary, path):
    places, digest = dict(older_places(path)), hashlib.sha256()
    for e in without_lanes(path):
        tid = e.get('tid', '')
        if e['ph'] == 'X':
            line = ['X', e['pid'], tid, e['cat'], e['name'], ns(e['ts']),
                    ns(e['dur'])]
        elif e['name'] == 'thread_sort_index':
            line = ['M', e['pid'], tid, e['name'], places[e['pid'], tid]]
        else:
            line = ['M', e['pid'], tid, e['name'], e['args']['name']]
        digest.update(('\t'.join(map(str, line)) + '\n').encode())
    if digest.hexdigest() != load(summary)['ns_lines_sha256']:
        yield f'{digest.hexdigest()} is not the digest of the summary'


# ---- sums ----

def same_value(what, want, got):
    """Counters are whole numbers, seconds texts with six decimals."""
    if type(want) is not type(got) or isinstance(want, int):
        near = type(want) is type(got) and want == got
    else:
        near = len(got.split('.')[1]) == 6 and abs(
            decimal.Decimal(want) - decimal.Decimal(got)) <= decimal.Decimal('1e-6')
    if not near:
        yield f'{what}: {want!r} wanted, {got!r} there'


def older(answer):
    """The object of the older tool: of all workers; it adds the counter of a
    name to the nanoseconds of its intervals."""
    out = {}
    for row in answer['rows']:
        if row['node'] is not None:
            continue
        value = None if row['value'] is None else int(row['value'])
        if row['count'] is not None:
            value = '%f' % ((row['seconds'] * 1e9 + (value or 0)) / 1e9)
        out.setdefault(row['group'], {})[row['name']] = value
    workers = [n for n in answer['nodes'] if n['node'] != 'master']
    if workers:
        out['total_time'] = '%f' % workers[-1]['seconds']
    return out


def same_stats(want, got):
    want, got = load(want), older(load(got))
    # A group of threads that recorded nothing.
    want = {group: sums for group, sums in want.items() if sums != {}}
    if list(want) != list(got):
        yield f'{list(want)} wanted, {list(got)} there'
        return
    for group, sums in want.items():
        if group == 'total_time':
            yield from same_value(group, sums, got[group])
            continue
        if list(sums) != list(got[group]):
            yield f'{group}: {list(sums)} wanted, {list(got[group])} there'
            continue
        for name, value in sums.items():
            yield from same_value(f'{group}, {name}', value, got[group][name])


def same_sums(path, stats):
    sums = {}
    for e in events(path):
        if e['ph'] != 'X':
            continue
        for pid in {e['pid'], 'all' if e['pid'] >= 0 else -1}:
            key = (str(pid), e['cat'], e['name'])
            count, total = sums.get(key, (0, 0))
            sums[key] = (count + 1, total + ns(e['dur']))
    printed = {}
    for row in load(stats)['rows']:
        if row['count'] is not None:
            name = {None: 'all', 'master': '-1'}.get(row['node'], row['node'])
            printed[name, row['group'], row['name']] = row
    if printed.keys() != sums.keys():
        yield f'other names: {printed.keys() ^ sums.keys()}'
        return
    for key, (count, total) in sums.items():
        if printed[key]['count'] != count:
            yield f'{key}: {count} intervals, {printed[key]["count"]} printed'
        if abs(printed[key]['seconds'] - total / 1e9) > 1e-9 * abs(total / 1e9):
            yield f'{key}: {total} ns, {printed[key]["seconds"]} s printed'


def instant(text):
    """Nanoseconds since the epoch, of a time in UTC."""
    whole, _, rest = text.rstrip('Z').partition('.')
    at = datetime.datetime.fromisoformat(whole + '+00:00')
    return calendar.timegm(at.timetuple()) * 10**9 + int(rest.ljust(9, '0'))


def same_interval(case, stats):
    want = load(case)['outputs']['total_time_interval']
    stats = load(stats)
    worker = [n for n in stats['nodes'] if n['node'] != 'master'][0]
    if [instant(worker['begin']), instant(worker['end'])] != want:
        yield f'{want} wanted, {worker} there'
    if instant(stats['begin']) != min(instant(n['begin']) for n in stats['nodes']) or \
            instant(stats['end']) != max(instant(n['end']) for n in stats['nodes']):
        yield 'the job does not begin with its first node and end with its last'


def main():
    what, *rest = sys.argv[1:]
    wrong = {
        'trace': lambda: chain(same_events(events(rest[0]), without_lanes(rest[1])),
                               nests(rest[1])),
        'files': lambda: chain(same_events(of_files(*rest[:2]), without_lanes(rest[2])),
                               nests(rest[2])),
        'sha': lambda: sha(*rest),
        'stats': lambda: same_stats(*rest),
        'sums': lambda: same_sums(*rest),
        'interval': lambda: same_interval(*rest),
    }[what]()
    count = 0
    for line in wrong:
        print(line)
        count += 1
        if count == 20:
            break
    sys.exit(count > 0)


if __name__ == '__main__':
    main()
