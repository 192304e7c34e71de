#!/usr/bin/python3
"""round_trips - stands between a reader and an aggregator, and counts how often the reader waits.

    round_trips.py --ready-fd N LISTEN CONNECT OUT

Questions are held until the reader repeats one: it has nothing more to ask before it
has an answer.  Then all of them go on, and a line of OUT has their types.
SPDX-License-Identifier: MIT
"""

import os
import sys

import zmq

TYPES = {8: "select", 10: "stats", 11: "status"}  # proto/wire.md


def main():
    ready, listen, connect, out = int(sys.argv[2]), *sys.argv[3:6]
    os.umask(0o077)
    context = zmq.Context()
    readers = context.socket(zmq.ROUTER)
    readers.bind(listen)
    poller = zmq.Poller()
    poller.register(readers, zmq.POLLIN)
    aggregators = {}  # a connection for each reader
    held, sent = [], set()
    os.write(ready, b"\n")
    os.close(ready)
    while True:
        for socket, _ in poller.poll():
            if socket is not readers:
                who = next(who for who, each in aggregators.items() if each is socket)
                readers.send_multipart([who, *socket.recv_multipart()])
                continue
            who, frame = readers.recv_multipart()
            if who not in aggregators:
                aggregators[who] = context.socket(zmq.DEALER)
                aggregators[who].connect(connect)
                poller.register(aggregators[who], zmq.POLLIN)
            if frame in sent or TYPES.get(frame[5]) is None:
                continue  # it was impatient, or says goodbye
            if (who, frame) not in held:
                held.append((who, frame))
                continue
            with open(out, "a") as file:
                print(*[TYPES[question[5]] for _, question in held], file=file)
            for reader, question in held:
                aggregators[reader].send(question)
                sent.add(question)
            held = []


main()
