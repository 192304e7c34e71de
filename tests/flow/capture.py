#!/usr/bin/python3
"""capture - stands between clients and a server, and writes every frame to a file.

    capture.py --ready-fd N LISTEN CONNECT FILE

The last part of each message is appended to FILE, of both directions.
SPDX-License-Identifier: MIT
"""

import os
import sys

import zmq


def main():
    ready, listen, connect, path = int(sys.argv[2]), *sys.argv[3:]
    context = zmq.Context()
    front = context.socket(zmq.ROUTER)
    front.bind(listen)
    poller = zmq.Poller()
    poller.register(front, zmq.POLLIN)
    clients, names = {}, {}
    os.write(ready, b"\n")
    os.close(ready)
    with open(path, "ab") as out:
        while True:
            for socket, _ in poller.poll():
                parts = socket.recv_multipart()
                out.write(parts[-1])
                out.flush()
                if socket is not front:
                    front.send_multipart([names[socket]] + parts)
                    continue
                if parts[0] not in clients:
                    back = context.socket(zmq.DEALER)
                    back.connect(connect)
                    poller.register(back, zmq.POLLIN)
                    clients[parts[0]], names[back] = back, parts[0]
                clients[parts[0]].send_multipart(parts[1:])


main()
