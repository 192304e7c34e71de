#!/usr/bin/python3
"""Runs and judges the recorded cases of result files.

  testbench.py run CASE WORK STATUS... -- COMMAND...
      builds WORK/data and WORK/archive as case.json says, runs COMMAND with
      -d and -a as often as it says, and compares exit statuses, what is where
      after each pass, what is in the archive, and that each bad file is named.
  testbench.py entities CASE FILE    the rows of poolscope-results entities
  testbench.py queries CASE PARTITION    asks poolscope-results
  testbench.py concurrent CASE FILE  the rows of several uploaders at once

What CASE/ours has is wanted instead of what CASE/expected has: there the older
uploader does what is to be done better.  Exit status 0: as recorded.
SPDX-License-Identifier: MIT
"""
import fcntl
import hashlib
import json
import os
import re
import stat
import subprocess
import sys


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def expected(case, name):
    ours = os.path.join(case, 'ours', name)
    return ours if os.path.exists(ours) else os.path.join(
        case, 'expected', name)


def rows(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


# ---- run ----

def build(case, work, setup):
    data, held = os.path.join(work, 'data'), []
    os.makedirs(data)
    if setup.get('archive_exists', True):
        os.mkdir(os.path.join(work, 'archive'))
    for file in setup['files']:
        path = os.path.join(data, file['name'])
        kind = file.get('type', 'file')
        if kind == 'symlink':
            os.symlink(file['target'], path)
        elif kind == 'dir':
            os.mkdir(path)
        elif kind == 'fifo':
            os.mkfifo(path)
        else:
            with open(os.path.join(case, 'data', file['name']), 'rb') as f:
                content = f.read()
            with open(path, 'wb') as f:
                f.write(content)
            os.utime(path, ns=(file['mtime_ns'],) * 2)
        if file.get('locked'):
            held.append(open(path, 'rb'))
            fcntl.flock(held[-1], fcntl.LOCK_EX)
    return held


def kind_of(path):
    mode = os.lstat(path).st_mode
    return ('file' if stat.S_ISREG(mode) else
            'symlink' if stat.S_ISLNK(mode) else
            'dir' if stat.S_ISDIR(mode) else
            'fifo' if stat.S_ISFIFO(mode) else '?')


def listing(path):
    if not os.path.isdir(path):
        return None
    return [[name, kind_of(os.path.join(path, name))]
            for name in sorted(os.listdir(path))]


def run(case, work, statuses, command):
    setup = load(os.path.join(case, 'case.json'))['setup']
    wanted = load(expected(case, 'directories.json'))
    held = build(case, work, setup)
    output = ''
    for number, where in enumerate(wanted['passes']):
        done = subprocess.run(command + ['-d', 'data', '-a', 'archive'],
                              cwd=work, text=True, capture_output=True)
        output += done.stdout + done.stderr
        if done.returncode != statuses[number]:
            yield 'pass %d: exit status %d: %s' % (
                number, done.returncode, done.stderr)
        for folder in ('data', 'archive'):
            got = listing(os.path.join(work, folder))
            if got != where[folder]:
                yield 'pass %d: %s has %r, not %r' % (
                    number, folder, got, where[folder])
        if number in setup.get('unlock_after', []):
            held.clear()
    for name, digest in wanted['archive_sha256'].items():
        with open(os.path.join(work, 'archive', name), 'rb') as file:
            if hashlib.sha256(file.read()).hexdigest() != digest:
                yield '%s: other content in the archive' % name
    for name in set(re.findall(r"Cannot process '([^']*)'", open(
            expected(case, 'stdout.txt'), encoding='utf-8').read())):
        if output.count(name + ':') != 1:
            yield '%s: named %d times' % (name, output.count(name + ':'))


# ---- entities, queries ----

def same(want, got):
    got = {key: got[key] for key in got if key != 'start' and got[key] is not None}
    if want.keys() - {'batch', 'id', 'unindexed'} != got.keys():
        return False
    for key in got:
        a, b = want[key], got[key]
        if isinstance(a, dict) and '$float' in a:
            a, b = repr(float(a['$float'])), repr(b)
        if type(a) is not type(b) or a != b:
            return False
    return True


def entities(case, path):
    want, got = rows(expected(case, 'entities.jsonl')), rows(path)
    if len(want) != len(got):
        yield '%d rows wanted, %d there' % (len(want), len(got))
    for number, (a, b) in enumerate(zip(want, got)):
        if not same(a, b):
            yield 'row %d: %r wanted, %r there' % (number, a, b)


def ask(partition, *words):
    done = subprocess.run(
        ['poolscope-results', *words, '-p', partition, '--format', 'json'],
        text=True, capture_output=True)
    if done.returncode == 0:
        return json.loads(done.stdout)['rows']
    # What there is not is an error; any other one is a failure.
    if done.returncode != 1 or not re.search('no results of test|has no ', done.stderr):
        sys.exit('%s: exit status %d: %s' % (words, done.returncode, done.stderr))
    return []


def range_of(query):
    return ['--from', repr(query['since_us'] / 1e6),
            '--limit', str(query['limit'] or 0)]


def answers(query, partition):
    """What is wanted, and what is there."""
    test, kind = query.get('test'), query['q']
    newest = query.get('newest_first', query['answer'])
    if kind == 'tests':
        yield query['answer'], ask(partition, 'tests')
    elif kind in ('recent_starts', 'recent_timings'):
        words = (['starts', test] if kind == 'recent_starts' else
                 ['timings', test, query['entry']]) + range_of(query)
        yield query['answer'], ask(partition, *words, '--oldest')
        newest = sorted(newest, key=lambda row: -row['start_us'])
        yield newest, ask(partition, *words)
    elif kind == 'entries_of_latest':
        yield query['answer'], ask(partition, 'entries', test)
    elif kind == 'test_record':
        got = ask(partition, 'test', test, str(query['start_us']))
        yield ([(row['test'], row['start_us'], row['info_sha256'])
                for row in query['answer']],
               [(row['test'], row['start_us'], hashlib.sha256(
                   row['info'].encode()).hexdigest()) for row in got])
    else:
        yield kind, 'unknown'


def queries(case, partition):
    for query in load(expected(case, 'queries.json')):
        for want, got in answers(query, partition):
            if want and isinstance(want[0], dict):
                got = [{key: row[key] for key in want[0]} for row in got]
            if want != got:
                yield '%s: %r wanted, %r there' % (query['q'], want, got)


def concurrent(case, path):
    wanted = load(os.path.join(case, 'case.json'))['outputs']
    lines = []
    for row in rows(path):
        fields = [row['kind'], row['test'], str(row['start_us'])]
        if row['kind'] == 'Entry':
            fields += [row['entry'], repr(row['timing'])]
        lines.append('\t'.join(fields))
    count = sum(line.startswith('Test') for line in lines)
    if (count, len(lines) - count) != (wanted['tests'], wanted['entries']):
        yield '%d tests and %d entries' % (count, len(lines) - count)
    text = ''.join(line + '\n' for line in sorted(lines))
    texts = [text, text[:-1]]
    if wanted['lines_sha256'] not in [
            hashlib.sha256(t.encode()).hexdigest() for t in texts]:
        yield 'other lines'


def main():
    what, case, *rest = sys.argv[1:]
    if what == 'run':
        split = rest.index('--')
        complaints = run(case, rest[0], [int(s) for s in rest[1:split]],
                         rest[split + 1:])
    else:
        complaints = {'entities': entities, 'queries': queries,
                      'concurrent': concurrent}[what](case, *rest)
    complaints = list(complaints)
    print('\n'.join(complaints))
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
