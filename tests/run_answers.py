"""run_answers - the answers of `poolscope stats deltas`, `iterations` and `groups` as JSON, by
run, step and group: what the recorded numbers and a slow pass over the events have.

SPDX-License-Identifier: MIT
"""
STEP = 'step.'


def deltas(answer):
    """{run: {step: its durations}}"""
    runs = {}
    for row in answer['rows']:
        of = runs.setdefault(row['run'], {})
        for key, value in row.items():
            if key.startswith(STEP):
                of.setdefault(key[len(STEP):], []).extend([] if value is None else [value])
    return runs


def iterations(answer):
    """{run: {event: count}}"""
    runs = {}
    for row in answer['rows']:
        runs.setdefault(row['run'], {})[row['event']] = row['count']
    return runs


def groups(answer):
    """{group: its numbers, phases, requestors and runs}; None: runs without a description."""
    found = {}
    for row in answer['rows']:
        of = {key: row[key] for key in ('runs', 'finished', 'errors', 'error_pct_of_ended', 'error_pct_of_all')}
        of.update(phases={}, requestors=[], ongoing=[], queued=[])
        assert row['group'] not in found and row['known'] == (row['group'] is not None), row
        found[row['group']] = of
    for row in answer['steps']:
        numbers = {key: row[key] for key in ('count', 'sum', 'min', 'max', 'mean', 'std_population', 'std_sample',
                                             'p50', 'p90', 'p99')}
        clock = found[row['group']]['phases'].setdefault(row['phase'], {}).setdefault(row['time'], {})
        assert row['of'] not in clock, row
        clock[row['of']] = numbers
    for row in answer['requestors']:
        found[row['group']]['requestors'].append([row['requestor'], row['runs']])
    for row in answer['unfinished']:
        found[row['group']].setdefault(row['state'] if row['state'] != 'finished' else 'ended', []).append(row['run'])
    for row in answer['rows']:
        for state in ('ongoing', 'queued'):
            assert not row['known'] or row[state] == len(found[row['group']][state]), row
    return found
