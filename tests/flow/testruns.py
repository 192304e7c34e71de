"""testruns - is what poolscope-dump says what the files of a farm say?

    poolscope-dump ... --format jsonl | testruns.py DIR [NODE]

Every line of DIR/testruns.jsonl must be there as an entity, every line of
DIR/events.jsonl as an event, each once, and nothing else; times are compared
as the decimals that stand in the files.
SPDX-License-Identifier: MIT
"""
import collections
import decimal
import json
import os
import sys

decimal.getcontext().prec = 50
directory = sys.argv[1]
node = sys.argv[2] if len(sys.argv) > 2 else 'testrun'


def lines(name, **how):
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return [json.loads(line, **how) for line in f if line.strip()]


def nanoseconds(seconds):
    return None if seconds is None else int(decimal.Decimal(seconds) * 10**9)


def compact(value):
    if not isinstance(value, list):
        return value
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


wanted = collections.Counter()
for run in lines('testruns.jsonl'):
    properties = {k: compact(v) for k, v in run.items() if k != 'testrun_id'}
    wanted['entity', run['testrun_id'], json.dumps(properties)] += 1
for event in lines('events.jsonl', parse_float=decimal.Decimal):
    wanted['event', event['testrun_id'], event['event_name'],
           nanoseconds(event['event_emit']),
           nanoseconds(event.get('event_receive'))] += 1

got = collections.Counter()
for line in sys.stdin:
    record = json.loads(line)
    assert record['node'] == node, record
    if record['kind'] == 'entity':
        assert record['entity'] == 'run', record
        got['entity', record['id'], json.dumps(record['properties'])] += 1
        continue
    assert record['kind'] == 'event' and record['source'] == 'run', record
    attributes = record['attributes']
    assert set(attributes) <= {'run', 'receive_ns'}, record
    got['event', attributes['run'], record['name'], record['time_ns'],
        attributes.get('receive_ns')] += 1

for row, count in (wanted - got).items():
    print('missing', count, row)
for row, count in (got - wanted).items():
    print('too many', count, row)
print('%d entities, %d events' % tuple(
    sum(n for row, n in got.items() if row[0] == kind)
    for kind in ('entity', 'event')))
sys.exit(wanted != got)
