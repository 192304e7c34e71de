#!/usr/bin/env python3
"""Judges what poolscope-stats perf gives; Python's standard library only.

  reports.py options CASE             the options that make it the case's
  reports.py metrics CASE WHICH GOT   plotter_calls or mlflow_calls
  reports.py numbered N FILE          N reports; the CPU average is their number
  reports.py wanted CASE              the N that survivors_at knows
  reports.py survivors CASE N GOT     lines of reports against survivors_at

Exit status 0: it conforms; 1: it does not, and standard output says where.
SPDX-License-Identifier: MIT
"""
import json
import math
import sys

REPORT = ('cpu_pct_per_cpu_avg cpu_pct_per_cpu_min cpu_pct_per_cpu_max '
          'mem_percent disk_usage_percent disk_io_read_mb disk_io_write_mb '
          'net_io_lo_sent_mb net_io_ext_sent_mb net_io_lo_recv_mb '
          'net_io_ext_recv_mb').split()


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def options(case):
    inputs = load(case + '/case.json')['inputs']
    words = ['--now', repr(inputs['now']), '--cpu-count',
             str(inputs['cpu_count']), '--since-boot']
    if inputs['metrics_prefix']:
        words += ['--prefix', inputs['metrics_prefix']]
    print(' '.join(words))


def metrics(case, which, got):
    want, got = load(case + '/expected/metrics.json')[which], load(got)
    if which == 'mlflow_calls':
        got = [[row['name'], row['value'], row['step']] for row in got['mlflow']]
    else:
        got = [[key, value, row['step']] for row in got['rows'] if row['reports']
               for key, value in row.items() if key not in ('node', 'step', 'reports')]
    if [[k, step] for k, _, step in want] != [[k, step] for k, _, step in got]:
        yield 'keys or steps are others, or in another order'
    for (key, a, step), (_, b, _) in zip(want, got):
        if b is None or not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
            yield f'{key} of {step}: {a!r} wanted, {b!r} there'


def numbered(count, path):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'0': [
            dict({key: float(i) for key in REPORT}, timestamp=1.65e9 + i)
            for i in range(1, int(count) + 1)]}, file)


def wanted(case):
    print(*load(case + '/expected/trims.json')['survivors_at'])


def survivors(case, count, got):
    want = load(case + '/expected/trims.json')['survivors_at'][count]
    with open(got, encoding='utf-8') as file:
        got = [json.loads(line) for line in file]
    if got[-1]['poolscope']['complete'] is not True:
        yield 'the answer is not complete'
    got = [row['cpu_pct_per_cpu_avg'] for row in got[1:-1]]
    if isinstance(want, dict):
        same = (len(got) == want['count'] and sum(got) == want['sum'] and
                got[:len(want['head'])] == want['head'] and
                got[-len(want['tail']):] == want['tail'])
    else:
        same = got == want
    if not same:
        yield f'{len(got)} survive, from {got[:20]} to {got[-20:]}'


def main():
    what, words = sys.argv[1], sys.argv[2:]
    found = list({'options': options, 'metrics': metrics, 'numbered': numbered,
                  'wanted': wanted, 'survivors': survivors}[what](*words) or ())
    print(*found[:20], sep='\n', end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
