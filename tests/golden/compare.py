#!/usr/bin/env python3
"""Judges what the golden cases give; Python's standard library only.

  compare.py timing EXPECTED GOT [--abs S] [--case CASE]
                                             poolscope-stats cascade, whole;
                                             CASE may have fixed_sizes
  compare.py nodes EXPECTED GOT [--abs S]    the same, only the nodes
  compare.py fixed FIXED GOT                 fixed.json of an error case
  compare.py headline SUMMARY GOT            summary.json of a generated case
  compare.py dat EXPECTED GOT --abs S        columns of a .dat, with a tolerance
  compare.py sha SUMMARY NAME FILE           the SHA-256 that the summary names
  compare.py png FILE                        a picture, and not an empty one

Exit status 0: it conforms; 1: it does not, and standard output says where.
SPDX-License-Identifier: MIT
"""
import datetime
import hashlib
import json
import struct
import sys
import zlib


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def differences(want, got, tolerance, path=''):
    """Yields a sentence for each place where `got` is not `want`."""
    if is_number(want) and is_number(got):
        if abs(want - got) > tolerance:
            yield f'{path}: {want!r} wanted, {got!r} there'
    elif isinstance(want, dict) and isinstance(got, dict):
        for key in want.keys() | got.keys():
            if key not in got:
                yield f'{path}/{key}: missing'
            elif key not in want:
                yield f'{path}/{key}: not wanted'
            else:
                yield from differences(
                    want[key], got[key], tolerance, f'{path}/{key}')
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f'{path}: {len(want)} items wanted, {len(got)} there'
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, tolerance, f'{path}/{i}')
    elif want != got:
        yield f'{path}: {want!r} wanted, {got!r} there'


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


ONCE = ('nodeprep', 'docker_install', 'private_registry_setup',
        'docker_shipyard_container_pull', 'global_resources_loaded')
HEAD = ('offer', 'sku', 'nodeready_variance', 'total_gr', 'avg_gr', 'total_acq', 'avg_acq')


def seconds(text):
    """Since the epoch, of a time in UTC."""
    whole, _, rest = text.rstrip('Z').partition('.')
    at = datetime.datetime.fromisoformat(whole + '+00:00').timestamp()
    return at + float('0.' + (rest or '0'))


def older(path):
    """The object that the older tool had, from the answer of poolscope-stats."""
    answer = load(path)
    if answer['complete'] is not True:
        raise ValueError('the answer is not complete')
    out = {key: answer[key] for key in HEAD}
    out['sizes'] = {row['image']: row['bytes'] for row in answer['sizes']}
    out['node_order'] = [row['node'] for row in answer['rows']]
    out['nodes'] = {
        row['node']: {
            'start': None if row['start'] is None else seconds(row['start']),
            'timing': {key: row[key] for key in ONCE}}
        for row in answer['rows']}
    for row in answer['images']:
        key = row['phase'] + ':' + row['image']
        out['nodes'][row['node']]['timing'][key] = row['seconds']
    out['incomplete'] = {}
    for row in answer['incomplete']:
        event = row['event'] + (':' + row['image'] if row['image'] else '')
        out['incomplete'].setdefault(row['node'], []).append(event)
    for row in answer['rows']:
        if row['incomplete'] != len(out['incomplete'].get(row['node'], [])):
            raise ValueError(f'{row}: another number of events')
    return out


def timing(want, got, tolerance, case):
    want, got = load(want), older(got)
    want['sizes'] = case.get('fixed_sizes', want['sizes'])
    if got.pop('incomplete', None) != {}:
        yield 'something is incomplete, or "incomplete" is not there'
    yield from differences(want, got, tolerance)


def nodes(want, got, tolerance, _):
    want, got = load(want), older(got)
    for key in ('nodes', 'node_order'):
        yield from differences(want[key], got[key], tolerance, key)


def derived(node, lacking):
    """What fixed.json says of a node, from what is reported of it."""
    out = {key: node['timing'][key] for key in ONCE}
    out['start'] = node['start']
    for phase in ('pull', 'save', 'load', 'torrent'):
        known = [value for key, value in node['timing'].items()
                 if key.startswith(phase + ':') and value is not None]
        out[phase + '_count'] = len(known)
        out[phase + '_total'] = float(sum(known))
    out['unmatched_starts'] = [
        event for event in lacking
        if event.startswith('cascade:') and '-start:' in event]
    return out


def fixed(want, got, *_):
    want, got = load(want), older(got)
    lacking = got['incomplete']
    yield from differences(want['row_order'], got['node_order'], 0, 'order')
    yield from differences(
        want['nodes'],
        {name: derived(node, lacking.get(name, []))
         for name, node in got['nodes'].items()}, 2e-6)
    for name, node in want['nodes'].items():
        whole = None not in node.values() and not node['unmatched_starts']
        if whole == (name in lacking):
            yield f'{name}: incomplete is {lacking.get(name)}'


def headline(want, got, *_):
    want, got = load(want), older(got)
    if len(got['nodes']) != want['n_nodes']:
        yield f"{len(got['nodes'])} nodes"
    if got['incomplete']:
        yield f"incomplete: {len(got['incomplete'])}"
    head = {key: got[key] for key in want['headline']}
    # Sums of ten thousand numbers, added in another order.
    yield from differences(want['headline'], head, 1e-6)


def dat(want, got, tolerance, _):
    with open(want, encoding='utf-8') as a, open(got, encoding='utf-8') as b:
        want, got = a.read().splitlines(), b.read().splitlines()
    if len(want) != len(got) or want[0] != got[0]:
        yield f'{len(want)} lines wanted, {len(got)} there, or another header'
    for number, (a, b) in enumerate(zip(want[1:], got[1:]), 2):
        a, b = a.split(' '), b.split(' ')
        if a[:2] != b[:2] or len(a) != len(b):
            yield f'line {number}: {b}'
            continue
        for x, y in zip(a[2:], b[2:]):
            if abs(float(x) - float(y)) > tolerance:
                yield f'line {number}: {x} wanted, {y} there'


def sha(summary, name, path):
    with open(path, 'rb') as file:
        got = hashlib.sha256(file.read()).hexdigest()
    if load(summary)['sha256'][name] != got:
        yield f'{name}: its SHA-256 is {got}'


def png(path):
    """Decompresses the picture: it must have more than one colour."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:8] != b'\x89PNG\r\n\x1a\n':
        yield 'not a PNG'
        return
    at, pixels, size, end = 8, b'', None, False
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if zlib.crc32(kind + body) != struct.unpack(
                '>I', data[at + 8 + length:at + 12 + length])[0]:
            yield f'{kind}: wrong checksum'
        if kind == b'IHDR':
            size = struct.unpack('>II', body[:8])
        if kind == b'IDAT':
            pixels += body
        end = kind == b'IEND'
        at += 12 + length
    if not end:
        yield 'it does not end'
    if size is None or size[0] < 300 or size[1] < 150:
        yield f'its size is {size}'
    if len(set(zlib.decompress(pixels))) < 4:
        yield 'nothing is drawn'


def option(words, name, default):
    """Takes `name VALUE` out of the words."""
    if name not in words:
        return default
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main():
    words = sys.argv[1:]
    tolerance = float(option(words, '--abs', '1e-6'))
    case = option(words, '--case', None)
    case = load(case) if case else {}
    what, words = words[0], words[1:]
    if what in ('sha', 'png'):
        found = {'sha': sha, 'png': png}[what](*words)
    else:
        found = {'timing': timing, 'nodes': nodes, 'fixed': fixed,
                 'headline': headline, 'dat': dat}[what](*words, tolerance, case)
    found = list(found)
    print(*found[:20], sep='\n', end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
