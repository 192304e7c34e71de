"""Judges the numbers of a farm's test runs; Python's standard library only.

  testrun.py deltas EXPECTED GOT       durations of the steps of each run
  testrun.py iterations EXPECTED GOT   how many events of each name it has
  testrun.py groups EXPECTED GOT DIR   statistics; quantiles from DIR's events
  testrun.py pass DIR GROUPS           the same, all of it from DIR's events
  testrun.py summary SUMMARY DELTAS GROUPS
                                       sums and digests of a generated farm
  testrun.py pages SUMMARY SERIES      its newest pages, and how many there are
  testrun.py series EXPECTED GOT       all pages
  testrun.py tables SERIES DIR BASE    the tables of their pictures, all of them:
                                       DIR/BASE-0001.dat ...
  testrun.py days DIR STEP FILE        a step day by day, from DIR's events

Exit status 0: it conforms; 1: it does not, and standard output says where.
SPDX-License-Identifier: MIT
"""
import collections
import datetime
import glob
import hashlib
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..'))
import run_answers  # noqa: E402 pylint: disable=wrong-import-position

STEPS = {
    'initialisation': ('request', 'queue_start'),
    'queue': ('queue_start', 'queue_end'),
    'flash': ('flash_start', 'flash_end'),
    'boot': ('boot_start', 'boot_end'),
    'test': ('test_start', 'test_end'),
    'publish': ('test_end', 'publish'),
    'testrun': ('request', 'publish'),
}
CLOCKS = ('event_emit', 'event_receive')
QUANTILES = {'p50': 50, 'p90': 90, 'p99': 99}


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def lines(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def differences(want, got, path=''):
    """Whole numbers are exact, others within a thousand-millionth."""
    if is_number(want) and is_number(got):
        exact = isinstance(want, int)
        if abs(want - got) > (0 if exact else max(1e-9, 1e-9 * abs(want))):
            yield f'{path}: {want!r} wanted, {got!r} there'
    elif isinstance(want, dict) and isinstance(got, dict):
        for key in want.keys() | got.keys():
            if key not in got or key not in want:
                yield f'{path}/{key}: only {"wanted" if key in want else "there"}'
            else:
                yield from differences(want[key], got[key], f'{path}/{key}')
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f'{path}: {len(want)} items wanted, {len(got)} there'
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, f'{path}/{i}')
    elif want != got or type(want) is not type(got):
        yield f'{path}: {want!r} wanted, {got!r} there'


# ---- a slow pass over the events

def by_run(directory):
    """Events of each run, by name, in the order of their emission."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    events = lines(directory, 'events.jsonl')
    for event in sorted(events, key=lambda e: e['event_emit']):
        found[event['testrun_id']][event['event_name']].append(event)
    return found


def durations(events, step, clock):
    return [end[clock] - start[clock]
            for start, end in zip(*(events.get(n, []) for n in STEPS[step]))]


def numbers(values):
    n, total = len(values), math.fsum(values)
    out = {'count': n, 'sum': total, 'min': min(values), 'max': max(values),
           'mean': total / n}
    squares = math.fsum((v - out['mean']) ** 2 for v in values)
    out['std_population'] = math.sqrt(squares / n)
    out['std_sample'] = math.sqrt(squares / (n - 1)) if n > 1 else None
    return {k: v if k == 'count' or v is None else float(v)
            for k, v in out.items()}


def values_of(directory):
    """{(group, step, clock, of): values} of the runs that have a row."""
    found = collections.defaultdict(list)
    events = by_run(directory)
    for run in lines(directory, 'testruns.jsonl'):
        for step in STEPS:
            for clock in CLOCKS:
                each = durations(events[run['testrun_id']], step, clock)
                if each:
                    key = run['device_group'], step, clock
                    found[key + ('per_iteration',)] += each
                    found[key + ('per_run_total',)].append(sum(each))
    return found


def nearest_rank(ordered, percent):
    """numpy.percentile(ordered, percent, method='inverted_cdf')"""
    return ordered[max(1, -(-percent * len(ordered) // 100)) - 1]


def quantiles(directory, got):
    """Within one percent of the value of the nearest rank."""
    for (group, step, clock, of), values in values_of(directory).items():
        values.sort()
        stats = got[group]['phases'][step][clock][of]
        for name, q in QUANTILES.items():
            value = nearest_rank(values, q)
            if abs(stats[name] - value) > 0.0101 * abs(value) + 1e-9:
                yield (f'{group}/{step}/{clock}/{of}/{name}: {value} '
                       f'wanted, {stats[name]} there')


def without_quantiles(groups):
    for group in groups.values():
        for phase in group['phases'].values():
            for clock in phase.values():
                for stats in clock.values():
                    for name in QUANTILES:
                        del stats[name]
    return groups


def unknown_deviations(groups):
    """The recorded answers have 0 where n - 1 is 0: that is not known."""
    for group in groups.values():
        for phase in group['phases'].values():
            for clock in phase.values():
                for stats in clock.values():
                    if stats['count'] == 1:
                        stats['std_sample'] = None
    return groups


def state(run, events):
    if run['error'] is not None:
        return 'error'
    return ('finished' if 'publish' in events else
            'ongoing' if 'queue_end' in events else 'queued')


def passed(directory):
    """What `groups` is to say, from the files."""
    groups, events = {}, by_run(directory)
    for run in lines(directory, 'testruns.jsonl'):
        group = groups.setdefault(run['device_group'], {
            'runs': 0, 'errors': 0, 'finished': 0, 'ongoing': [],
            'queued': [], 'phases': {}, 'requestors': collections.Counter()})
        group['runs'] += 1
        group['requestors'][run['requestor']] += 1
        which = state(run, events[run['testrun_id']])
        if which in ('ongoing', 'queued'):
            group[which].append(run['testrun_id'])
        else:
            group['errors' if which == 'error' else which] += 1
    for (name, step, clock, of), values in values_of(directory).items():
        phases = groups[name]['phases']
        phases.setdefault(step, {}).setdefault(clock, {})[of] = numbers(values)
    for group in groups.values():
        ended = group['errors'] + group['finished']
        group['error_pct_of_ended'] = 100 * group['errors'] / (ended or 1)
        group['error_pct_of_all'] = 100 * group['errors'] / group['runs']
        group['requestors'] = sorted(
            map(list, group['requestors'].items()),
            key=lambda r: (-r[1], r[0].encode()))
    return groups


# ---- what is judged

def groups(want, got, directory):
    got = run_answers.groups(load(got))
    yield from quantiles(directory, got)
    yield from differences(
        unknown_deviations(load(want)), without_quantiles(got))


def pass_(directory, got):
    got = run_answers.groups(load(got))
    yield from quantiles(directory, got)
    yield from differences(passed(directory), without_quantiles(got))


def summary(want, deltas, groups):
    want = load(want)
    deltas, groups = run_answers.deltas(load(deltas)), run_answers.groups(load(groups))
    (name, group), = groups.items()
    if len(deltas) != want['n_runs'] or group['runs'] != want['n_runs']:
        yield f'{len(deltas)} runs, {group["runs"]} of group {name}'
    for step, wanted in want['steps'].items():
        values = [v for run in deltas.values() for v in run[step]]
        got = {'first8': values[:8], 'last8': values[-8:],
               'sha256_int64le': hashlib.sha256(
                   struct.pack(f'<{len(values)}q', *values)).hexdigest()}
        stats = group['phases'][step]['event_receive']['per_iteration']
        for key in ('sum', 'min', 'max'):
            got[key] = int(stats[key])
        for key in ('mean', 'std_population'):
            got[key] = stats[key]
        yield from differences(wanted, got, step)
    for key in ('errors', 'requestors', 'error_pct_of_ended'):
        yield from differences(want[key], group[key], key)


def pages(want, series):
    want, series = load(want), load(series)
    if len(series) != want['full_page_count']:
        yield f'{len(series)} pages, {want["full_page_count"]} wanted'
    wanted = want['newest_pages']
    yield from differences(wanted, series[:len(wanted)], 'page')


def table(path):
    with open(path, encoding='utf-8') as file:
        titles, *rows = (line.split() for line in file)
    return [dict(zip(titles, row)) for row in rows]


def tables(series, directory, base):
    wanted = load(series)
    found = sorted(glob.glob(os.path.join(directory, base + '-[0-9]*.dat')))
    if [os.path.basename(f) for f in found] != [
            f'{base}-{i + 1:04}.dat' for i in range(len(wanted))]:
        yield f'{len(found)} tables: {found[-1:]}'
        return
    rank = 0
    for path, page in zip(found, wanted):
        rows = table(path)
        yield from differences(page['labels'], [r['Run'] for r in rows], path)
        for step, values in page['series'].items():
            got = [None if r[step] == '-' else json.loads(r[step])
                   for r in reversed(rows)]
            yield from differences(values, got, f'{path}/{step}')
        yield from differences(
            [str(rank + i + 1) for i in range(len(rows))],
            [r['Rank'] for r in rows], path)
        rank += len(rows)


def days(directory, step, path):
    wanted = collections.defaultdict(list)
    for events in by_run(directory).values():
        first = min(e['event_emit'] for es in events.values() for e in es)
        day = datetime.datetime.fromtimestamp(first, datetime.timezone.utc)
        wanted[day.date().isoformat()] += durations(
            events, step, 'event_receive')
    wanted = {day: sorted(values) for day, values in wanted.items() if values}
    rows = table(path)
    yield from differences(sorted(wanted), [r['Day'] for r in rows], 'days')
    for row in rows:
        values = wanted[row['Day']]
        ranks = {'Least': 0, 'Median': 50, 'P90': 90, 'Greatest': 100}
        for title, percent in ranks.items():
            value = nearest_rank(values, percent)
            if abs(value - float(row[title])) > 1e-6 * max(1, abs(value)):
                yield f'{row}: {title} {value} wanted'
        yield from differences(len(values), int(row['Count']), row['Day'])


def deltas_(want, got):
    yield from differences(load(want), run_answers.deltas(load(got)))


def iterations(want, got):
    yield from differences(load(want), run_answers.iterations(load(got)))


def same(want, got):
    yield from differences(load(want), load(got))


def main():
    what, *words = sys.argv[1:]
    judge = {'deltas': deltas_, 'iterations': iterations, 'series': same,
             'groups': groups, 'pass': pass_, 'summary': summary,
             'pages': pages, 'tables': tables, 'days': days}[what]
    found = list(judge(*words))
    print(*found[:20], sep='\n', end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
