# result_file_judge - result_file_judge.py FILES OURS: reads result files with
# Python's json module, and finds in OURS what is in them.
#
# In both items end in NULs: in FILES they are the files, in OURS, for each:
# "bad", or "test START_US NAME", for each entry "entry", TIMING, INFO and NAME,
# and "left out COUNT".  Names are in hexadecimal digits.  What is a rule of the
# agreement and not of JSON is stated here once more.
# SPDX-License-Identifier: MIT
import json
import math
import re
import sys
from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAME_BYTES_MAX = 1500


class Bad(Exception):
    pass


def name_of(thing):
    name = thing['name']
    if not isinstance(name, str):
        raise Bad
    data = name.encode()  # half of a surrogate pair has no bytes
    if not 1 <= len(data) <= NAME_BYTES_MAX:
        raise Bad
    return data.hex()


def start_of(value):
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Bad
    if isinstance(value, str) and not re.fullmatch(
            r'[ \t\n\r\f\v]*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?'
            r'[ \t\n\r\f\v]*', value, re.ASCII):
        raise Bad
    when = datetime.fromtimestamp(float(value), timezone.utc)
    return (when - EPOCH) // timedelta(microseconds=1)


def timing_of(entry):
    value = entry.get('wallTime', 0)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Bad
    if isinstance(value, str):
        if len(value.encode()) > 255:
            raise Bad
        return 't' + value.encode().hex()
    if isinstance(value, int):
        if -2**63 <= value < 2**63:
            return 'i%d' % value
        value = float(value)
    return 'fnan' if math.isnan(value) else 'f' + value.hex()


def normal(timing):
    """A float as Python writes it."""
    if not timing.startswith('f'):
        return timing
    value = float.fromhex(timing[1:])
    return 'fnan' if math.isnan(value) else 'f' + value.hex()


def normal_items(path):
    with open(path, 'rb') as file:
        items = iter(file.read().split(b'\0')[:-1])
    for item in items:
        if item == b'entry':
            timing, info, name = next(items), next(items), next(items)
            yield 'entry %s %s %s' % (normal(timing.decode()), json.dumps(
                json.loads(info.decode())), name.decode())
        else:
            yield item.decode()


def lines_of(data):
    if data.startswith(b'\xef\xbb\xbf'):
        raise Bad
    root = json.loads(data.decode())
    entries = root['entries']
    if not isinstance(root, dict) or not isinstance(entries, dict):
        raise Bad
    listed = entries.get('entry', [])
    if not isinstance(listed, list):
        raise Bad
    yield 'test %d %s' % (start_of(root['startTime']), name_of(root))
    left_out = 0
    for entry in listed:
        try:
            if not isinstance(entry, dict):
                raise Bad
            yield 'entry %s %s %s' % (
                timing_of(entry), json.dumps(entry), name_of(entry))
        except (Bad, KeyError, UnicodeError):
            left_out += 1
    yield 'left out %d' % left_out


def wanted_items(path):
    with open(path, 'rb') as file:
        files = file.read().split(b'\0')
    for data in files[:-1]:
        try:
            yield from list(lines_of(data))
        except (Bad, KeyError, TypeError, ValueError, OverflowError,
                RecursionError):
            yield 'bad'


wanted, got = list(wanted_items(sys.argv[1])), list(normal_items(sys.argv[2]))
print(len(wanted), 'items,', wanted.count('bad'), 'bad files')
for a, b in zip(wanted, got):
    if a != b:
        sys.exit('wanted: %s\ngot:    %s' % (a, b))
if len(wanted) != len(got):
    sys.exit('%d items wanted, %d there' % (len(wanted), len(got)))
