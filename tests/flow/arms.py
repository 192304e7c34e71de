"""arms - a made-up hall of robot arms, for models that somebody else wrote.

    arms.py make SEED ORDERS            events, as poolscope-emit --stdin reads them
    arms.py judge EVENTS ANSWERS [STEP=START,END]

judge says whether deltas.json, iterations.json, groups.json (poolscope-stats) and
phases.jsonl, orders.jsonl (poolscope-dump) in ANSWERS are what one slow pass over
the events gives; a step may be added to those below.
SPDX-License-Identifier: MIT
"""
import collections
import decimal
import json
import math
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import run_answers  # noqa: E402 pylint: disable=wrong-import-position

STEPS = {'waiting': ('arm:ordered', 'arm:taken'),
         'handling': ('arm:grip', 'arm:release'),
         'inspection': ('eye:look', 'eye:verdict'),
         'dispatch': ('arm:packed', 'arm:sent'),
         'order': ('arm:ordered', 'arm:sent')}
PROPERTIES = ('cell', 'buyer', 'fault', 'part')
BASE = 1_795_000_000


def make(seed, orders):
    rng = random.Random(seed)
    lines = []
    for number in range(orders):
        job = f'o-{number}'
        arm = f'arm{rng.randrange(5)}'
        now = (BASE + 40 * number) * 10**9
        kind = rng.randrange(10)  # 0: no attributes, 1 waits, 2 at work

        def emit(event, source='arm', **attrs):
            nonlocal now
            now += rng.randrange(1, 30 * 10**9)
            lines.append({'source': source, 'event': event, 'node': arm,
                          'ts': f'{now // 10**9}.{now % 10**9:09}',
                          'attrs': {'job': job, **attrs}})

        known = kind != 0
        emit('ordered', **({'cell': f'cell {number % 3}'} if known else {}))
        if kind == 1:
            continue
        emit('taken', **({'buyer': f'b{rng.randrange(7)}'} if known else {}))
        for _ in range(rng.randrange(1, 5)):
            emit('grip')
            emit('release', **({'part': 'gear'} if known and not _ else {}))
        # Somebody thought better of it; whatever comes last holds.
        again = known and rng.randrange(4) == 0
        emit('tool-off', tool='claw')
        if again:
            emit('grip', cell=f'cell {rng.randrange(3)}')
            emit('release', buyer=f'b{rng.randrange(7)}')
        emit('tool-on', tool='claw')
        if rng.randrange(4):
            emit('look', source='eye')
            emit('verdict', source='eye')
        if kind == 2:
            emit('grip')
            continue
        emit('packed')
        fault = 'dropped it' if rng.randrange(6) == 0 else None
        emit('sent', **({'fault': fault} if known else {}))
    rng.shuffle(lines)
    for line in lines:
        print(json.dumps(line))


def read(path):
    with open(path, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


def nanoseconds(text):
    return int(decimal.Decimal(text) * 10**9)


def runs_of(events):
    """By order: times by event's name, and properties."""
    runs = {}
    for event in events:
        run = runs.setdefault(event['attrs']['job'],
                              (collections.defaultdict(list), {}))
        run[0][event['source'] + ':' + event['event']].append(nanoseconds(event['ts']))
        run[1].update((k, v) for k, v in event['attrs'].items()
                      if k in PROPERTIES)
    for times, _ in runs.values():
        for each in times.values():
            each.sort()
    return runs


def pairs(times, step):
    """An end has the start right before it, in the order of time."""
    begin, end = STEPS[step]
    marks = sorted([(t, begin) for t in times.get(begin, [])] +
                   [(t, end) for t in times.get(end, [])])
    return [(a[0], b[0]) for a, b in zip(marks, marks[1:])
            if (a[1], b[1]) == (begin, end)]


def deltas(times):
    return {s: [decimal.Decimal(e - b) / 10**9 for b, e in pairs(times, s)]
            for s in STEPS}


def check_statistics(where, got, values):
    values = sorted(float(v) for v in values)
    assert got['count'] == len(values), (where, got, len(values))
    if not values:
        return
    exact = {'sum': math.fsum(values), 'min': values[0], 'max': values[-1],
             'mean': statistics.fmean(values),
             'std_population': statistics.pstdev(values)}
    if len(values) > 1:
        exact['std_sample'] = statistics.stdev(values)
    else:
        assert got['std_sample'] is None, (where, got)
    for name, value in exact.items():
        assert math.isclose(got[name], value, rel_tol=1e-9, abs_tol=1e-6), \
            (where, name, got[name], value)
    for q in (50, 90, 99):
        value = values[(q * len(values) + 99) // 100 - 1]  # the nearest rank
        assert value * 0.99 <= got[f'p{q}'] <= value * 1.01, \
            (where, q, got[f'p{q}'], value)


def check_group(name, got, members):
    failed = [r for r, (_, p) in members.items() if p.get('fault')]
    state = collections.defaultdict(list)
    for job, (times, _) in members.items():
        if job not in failed:
            state['finished' if 'arm:sent' in times else
                  'ongoing' if 'arm:taken' in times else
                  'queued'].append(job)
    assert got['errors'] == len(failed), (name, got['errors'], failed)
    assert got['finished'] == len(state['finished']), (name, state)
    for which in ('ongoing', 'queued'):
        assert sorted(got[which]) == sorted(state[which]), (name, which)
    ended = len(failed) + got['finished']
    for key, of in (('ended', ended), ('all', len(members))):
        wanted = 100 * len(failed) / of if of else None
        assert got[f'error_pct_of_{key}'] == wanted or math.isclose(
            got[f'error_pct_of_{key}'], wanted), (name, key, got)
    buyers = collections.Counter(
        p['buyer'] for _, p in members.values() if p.get('buyer'))
    assert dict(got['requestors']) == dict(buyers), (name, got['requestors'])
    for step in STEPS:
        each = [d for d in (deltas(times)[step]
                            for times, _ in members.values()) if d]
        clock = got['phases'][step]['event_emit']
        check_statistics((name, step), clock['per_iteration'],
                         [d for run in each for d in run])
        check_statistics((name, step, 'total'), clock['per_run_total'],
                         [sum(run) for run in each])


def check_groups(got, runs):
    members = collections.defaultdict(dict)
    for job, run in runs.items():
        members[run[1].get('cell')][job] = run
    assert set(got) == set(members), (list(got), list(members))
    for name, of in members.items():
        check_group(name, got[name], of)


def check_phases(rows, events, runs):
    wanted = collections.Counter(
        (step, job, pair) for job, (times, _) in runs.items() for step in STEPS
        for pair in pairs(times, step))
    for which in [e for e in events if e['event'] == 'tool-off']:
        # An arm puts a tool off and on in one order before the next: but the
        # orders of an arm overlap, so that pairs are those of the arm.
        wanted['tool-change', which['node']] += 1
    got = collections.Counter()
    for row in rows:
        assert row['model'] == 'arms', row
        if row.get('begin_ns') is None or row.get('end_ns') is None:
            continue
        if row['phase'] == 'tool-change':
            assert row['key'] == 'claw', row
            got['tool-change', row['node']] += 1
        else:
            got[row['phase'], row['attributes']['job'],
                (row['begin_ns'], row['end_ns'])] += 1
    assert got == wanted, (got - wanted, wanted - got)


def judge(events, answers):
    def answer(name):
        with open(os.path.join(answers, name), encoding='utf-8') as f:
            return json.load(f, parse_float=decimal.Decimal
                             if name == 'deltas.json' else float)

    runs = runs_of(events)
    assert len(runs) > 10
    wanted = {job: deltas(times) for job, (times, _) in runs.items()}
    got = {job: {s: [decimal.Decimal(d) for d in v] for s, v in of.items()}
           for job, of in run_answers.deltas(answer('deltas.json')).items()}
    assert got == wanted, [(j, got.get(j), wanted.get(j)) for j in
                           {**got, **wanted} if got.get(j) != wanted.get(j)][:3]
    # All events are from the sources of the steps, arm and eye.
    counts = {job: {name: len(t) for name, t in times.items()}
              for job, (times, _) in runs.items()}
    assert run_answers.iterations(answer('iterations.json')) == counts, answer('iterations.json')
    check_groups(run_answers.groups(answer('groups.json')), runs)
    check_phases(read(os.path.join(answers, 'phases.jsonl')), events, runs)
    orders = {row['id']: row['properties']
              for row in read(os.path.join(answers, 'orders.jsonl'))}
    assert orders == {job: p for job, (_, p) in runs.items() if p}, orders
    print(len(runs), 'orders,', len(events), 'events')


if sys.argv[1] == 'make':
    make(int(sys.argv[2]), int(sys.argv[3]))
else:
    for argument in sys.argv[4:]:
        step_name, _, ends = argument.partition('=')
        STEPS[step_name] = tuple(ends.split(','))
    judge(read(sys.argv[2]), sys.argv[3])
