#!/usr/bin/env python3
"""What run.sh needs in addition to the shell; Python's standard library only.

  peers.py lines NODES FILE        the recorded samples as Influx lines
  peers.py post PORT FILE          over HTTP, one connection a core
  peers.py scrape PORT SECONDS     once a second, as Prometheus does
  peers.py cost SECONDS NAME=PID.. CPU a second and PSS of each, side by side
  peers.py bytes DIR...            of all files in them

SPDX-License-Identifier: MIT
"""
import glob
import http.client
import json
import os
import sys
import threading
import time

DATA = 'tests/bench/data/host-samples.jsonl'
LINES_A_REQUEST = 5000


def lines(nodes, path):
    """All nodes go on side by side; each is some seconds behind the last."""
    with open(DATA, encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    rows = [(round(row.pop('timestamp') * 1e9),
             ','.join(f'{k}={v!r}' for k, v in row.items())) for row in rows]
    with open(path, 'w', encoding='utf-8') as file:
        for begin in range(0, len(rows), 250):
            for node in range(int(nodes)):
                file.writelines(
                    f'host,node=node-{node:05d} {fields} {t + node * 7 * 10**9}\n'
                    for t, fields in rows[begin:begin + 250])


def post(port, path):
    """Prints the seconds from the first request to the last answer."""
    requests, piece = [], []
    with open(path, 'rb') as file:
        for line in file:
            piece.append(line)
            if len(piece) == LINES_A_REQUEST:
                requests.append(b''.join(piece))
                piece = []
    if piece:
        requests.append(b''.join(piece))
    failed = []

    def send(mine):
        try:
            peer = http.client.HTTPConnection('127.0.0.1', int(port), timeout=60)
            for body in mine:
                peer.request('POST', '/write?precision=ns', body)
                answer = peer.getresponse()
                answer.read()
                if answer.status != 204:
                    raise OSError(f'status {answer.status}')
        except OSError as error:
            failed.append(error)

    count = os.cpu_count()
    threads = [threading.Thread(target=send, args=(requests[i::count],))
               for i in range(count)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(f'post: {failed[0]}')
    print(time.monotonic() - began)


def scrape(port, seconds):
    end = time.monotonic() + float(seconds)
    peer = http.client.HTTPConnection('127.0.0.1', int(port), timeout=10)
    try:
        while time.monotonic() < end:
            peer.request('GET', '/metrics')
            peer.getresponse().read()
            time.sleep(1)
    except (OSError, http.client.HTTPException):
        pass  # it was stopped


def cpu_ns(pid):
    total = 0
    for path in glob.glob(f'/proc/{pid}/task/*/schedstat'):
        try:
            with open(path, encoding='ascii') as file:
                total += int(file.read().split()[0])
        except OSError:
            pass  # the thread has ended
    return total


def pss_kib(pid):
    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as file:
        return next(int(l.split()[1]) for l in file if l.startswith('Pss:'))


def cost(seconds, *who):
    who = [(name, int(pid)) for name, pid in (w.split('=') for w in who)]
    before = [cpu_ns(pid) for _, pid in who]
    began = time.monotonic()
    time.sleep(float(seconds))
    took = time.monotonic() - began
    used = [(cpu_ns(pid) - b) / took / 1e6 for (_, pid), b in zip(who, before)]
    pss = [pss_kib(pid) / 1024 for _, pid in who]
    for (name, _), ms, mib in zip(who, used, pss):
        print(f'{name:<34}{ms:8.2f} ms CPU a second{mib:8.2f} MiB PSS'
              f'   ratio {ms / used[0]:6.2f} {mib / pss[0]:6.2f}')


def size(*dirs):
    print(sum(os.lstat(os.path.join(where, name)).st_size
              for d in dirs for where, _, names in os.walk(d) for name in names))


if __name__ == '__main__':
    {'lines': lines, 'post': post, 'scrape': scrape, 'cost': cost,
     'bytes': size}[sys.argv[1]](*sys.argv[2:])
