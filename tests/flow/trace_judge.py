"""What a trace of poolscope-trace says, checked without poolscope.

trace_judge.py same JSON JUDGED   the JSON trace holds the lines of JUDGED,
                                  what unit/trace_proto_judge.py prints
trace_judge.py nests JSON         no two intervals of a thread overlap in part
trace_judge.py holds JSON DUMP    every record of poolscope-dump is in it
trace_judge.py says JSON PYTHON   the expression holds; t is the trace, X, I, C
                                  and M its events by kind
SPDX-License-Identifier: MIT
"""
import json
import sys
from collections import Counter
from decimal import Decimal


def load(path):
    def never(word):
        raise ValueError(word)
    with open(path, encoding='utf-8') as file:
        return json.load(file, parse_float=Decimal, parse_int=Decimal,
                         parse_constant=never)


trace = load(sys.argv[2])
events = trace['traceEvents']
by_kind = {kind: [e for e in events if e['ph'] == kind] for kind in 'XiCM'}
X, I, C, M = (by_kind[kind] for kind in 'XiCM')
base = int(trace['otherData']['base_ns'])


def ns(micros):
    value = micros * 1000
    assert value == int(value)
    return int(value)


def names(what):
    return {(int(e['pid']), int(e.get('tid', 0))): e['args']['name']
            for e in M if e['name'] == what}


def attribute(key, value):
    if isinstance(value, bool):
        return f'{key}=bool:{int(value)}'
    if isinstance(value, Decimal):
        if value == value.to_integral_value() and 'E' not in str(value) and '.' not in str(value):
            return f'{key}=int:{value}'
        return f'{key}=double:{float(value)!r}'
    return f'{key}=text:{"null" if value is None else value}'


def lines():
    sort = {(e['name'], int(e['pid']), int(e.get('tid', 0))): int(e['args']['sort_index'])
            for e in M if e['name'].endswith('sort_index')}
    yield f'clock 1 {base}'
    yield 'clock 6 0'
    for key, value in trace['otherData'].items():
        yield f'about {key} {value}'
    for (pid, _), name in names('process_name').items():
        yield f'process {pid} {sort["process_sort_index", pid, 0]} {name}'
    for (pid, tid), name in names('thread_name').items():
        yield f'thread {pid} {tid} {sort["thread_sort_index", pid, tid]} {name}'
    for e in X + I:
        where = f'{e["tid"]} {ns(e["ts"])}'
        text = ' '.join([e['cat'], e['name']] + [attribute(*a) for a in e['args'].items()])
        yield f'slice {where} {ns(e["dur"])} {text}' if e['ph'] == 'X' else f'instant {where} {text}'
    for e in C:
        [(unit, value)] = e['args'].items()
        unit = '' if unit == 'value' else unit
        yield f'counter {e["pid"]} {e["name"]} {unit} {ns(e["ts"])} {float(value)!r}'


def same(judged):
    with open(judged, encoding='utf-8') as file:
        wanted = sorted(file.read().splitlines())
    got = sorted(lines())
    assert got == wanted, list((Counter(got) - Counter(wanted)).items())[:3] + \
        list((Counter(wanted) - Counter(got)).items())[:3]


def nests():
    threads = {}
    for e in X:
        begin = ns(e['ts'])
        threads.setdefault((e['pid'], e['tid']), []).append((begin, -begin - ns(e['dur'])))
    for thread, intervals in threads.items():
        ends = []
        for begin, end in sorted(intervals):
            end = -end
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or end <= ends[-1], (thread, begin, end, ends[-1])
            ends.append(end)


def holds(dump):
    process, thread = names('process_name'), names('thread_name')

    def where(e):
        return process[int(e['pid']), 0], thread[int(e['pid']), int(e['tid'])]

    # The critical path is of no record.
    of_nodes = [e for e in X if where(e) != ('pool', 'critical path')]
    intervals = Counter((where(e)[0].split(':')[0], e['name'], base + ns(e['ts']), ns(e['dur'])) for e in of_nodes)
    points = Counter((where(e)[0].split(':')[0], e['name'], base + ns(e['ts'])) for e in I)
    with open(dump, encoding='utf-8') as file:
        for line in file:
            r = json.loads(line)
            if r['kind'] == 'event':
                points[r['node'], r['name'], r['time_ns']] -= 1
            elif r['kind'] == 'span':
                intervals[r['node'], r['name'], r['begin_ns'], max(0, r['end_ns'] - r['begin_ns'])] -= 1
            elif r['kind'] == 'phase' and r.get('begin_ns') is not None and r.get('end_ns') is not None:
                # The slice of a job is the job; others have phase and key.
                name = r['key'] if (r['model'], r['phase']) == ('job', 'run') else \
                    f"{r['phase']} {r['key']}".rstrip()
                intervals[r['node'], name, r['begin_ns'],
                          max(0, r['end_ns'] - r['begin_ns'])] -= 1
    assert not [i for i in intervals.items() if i[1] < 0], [i for i in intervals.items() if i[1] < 0][:3]
    assert not [i for i in points.items() if i[1] < 0], [i for i in points.items() if i[1] < 0][:3]
    # What is in the trace besides lacks its start or end.
    for e in of_nodes:
        key = where(e)[0].split(':')[0], e['name'], base + ns(e['ts']), ns(e['dur'])
        assert intervals[key] <= 0 or e['args'].get('poolscope.no_end'), e
    for e in I:
        key = where(e)[0].split(':')[0], e['name'], base + ns(e['ts'])
        assert points[key] <= 0 or e['args'].get('poolscope.no_start'), e


if sys.argv[1] == 'same':
    same(sys.argv[3])
elif sys.argv[1] == 'nests':
    nests()
elif sys.argv[1] == 'holds':
    holds(sys.argv[3])
else:
    process, thread = names('process_name'), names('thread_name')
    assert eval(f'({sys.argv[3]})', dict(globals(), t=trace)), sys.argv[3]
