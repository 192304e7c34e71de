"""archive_proxy - stands before a replica, and cuts or answers badly.

	archive_proxy.py PORT UPSTREAM-PORT MANNER-FILE SEED

MANNER-FILE has a line: pass; hold WORD...: a request that has all of these words is
kept until the manner is another one, and then delivered, whether or not who asked is
still there; slow: such with INSERT or CREATE wait for up to half a second; cuts: each connection ends after some number of
bytes of what is asked or of what is answered, another number each time; or how to
answer without asking the replica: exception, garbage, redirect, half, nothing.  A
line of the log has a cut, a bad answer, or that something was held or delivered.
SPDX-License-Identifier: MIT
"""
import random
import select
import selectors
import socket
import struct
import sys
import threading
import time

PORT, UPSTREAM, FILE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
pick = random.Random(int(sys.argv[4]))
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
ANSWERS = {
    "exception": OK + b"Content-Length: 67\r\n\r\nCode: 241. DB::Exception: Memory limit (for query) exceeded: 9 GiB.\n",
    "garbage": OK + b"Content-Length: 9\r\n\r\n\x00\xff\x80a\tb\n\n\n",
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "half": OK + b"Content-Length: 100\r\n\r\n1\t",
    "nothing": b"",
}


def manner():
    return open(FILE).read().strip()


def reset(*ends):
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.close()


def request(client):
    """Reads one; its body has a length or chunks."""
    client.settimeout(5)
    got = b""
    while b"\r\n\r\n" not in got:
        more = client.recv(65536)
        if not more:
            return b""
        got += more
    head, _, body = got.partition(b"\r\n\r\n")
    words = {line.split(b":")[0].lower(): line.split(b":")[1].strip()
             for line in head.split(b"\r\n")[1:]}
    if b"expect" in words:
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect"))
    length = int(words.get(b"content-length", 0))
    while len(body) < length:
        body += client.recv(65536)
    return head + b"\r\n\r\n" + body


def at_once(end):
    """Sends each piece when it comes: by Nagle's rule a second one waits 40 ms for an ACK."""
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def deliver_late(client, how):
    """Requests one after another; keep-alive."""
    upstream = at_once(socket.create_connection(("127.0.0.1", UPSTREAM), 10))
    while manner() == how:
        ready, _, _ = select.select([client, upstream], [], [], 0.2)
        if upstream in ready:
            got = upstream.recv(65536)
            if not got:
                return
            client.sendall(got)
        elif client in ready:
            got = request(client)
            if not got:
                return
            first = got.split(b"\r\n")[0] + got[got.index(b"\r\n\r\n"):][:400]
            held = how != "slow" and all(word.encode() in first for word in how.split()[1:])
            if held:
                print("held", how, flush=True)
                while manner() == how:
                    time.sleep(0.02)
                upstream = at_once(socket.create_connection(("127.0.0.1", UPSTREAM), 10))
            elif how == "slow" and (b"INSERT" in first or b"CREATE" in first):
                time.sleep(pick.random() / 2)
            upstream.sendall(got)
            if held:
                upstream.settimeout(10)
                print("delivered", upstream.recv(65536)[:15], flush=True)
                return


def answer_badly(client, how):
    if not request(client):
        return
    print("bad", how, flush=True)
    if how == "nothing":
        until = time.time() + 30
        while manner() == how and time.time() < until:
            time.sleep(0.05)
    client.sendall(ANSWERS[how])
    if how == "half":
        time.sleep(0.05)


def forward(client, how):
    upstream = at_once(socket.create_connection(("127.0.0.1", UPSTREAM), 10))
    left = {client: None, upstream: None}
    if how == "cuts":
        left[pick.choice((client, upstream))] = int(2 ** pick.uniform(0, 15))
    ends = selectors.DefaultSelector()
    for end in left:
        ends.register(end, selectors.EVENT_READ)
    while manner() == how:
        for key, _ in ends.select(0.2):
            end = key.fileobj
            got = end.recv(65536)
            if not got:
                return
            if left[end] is not None:
                got = got[:left[end]]
                left[end] -= len(got)
            (upstream if end is client else client).sendall(got)
            if left[end] == 0:
                print("cut", "asked" if end is client else "answered", flush=True)
                return
    upstream.close()


def serve(client):
    try:
        how = manner()
        if how in ANSWERS:
            answer_badly(client, how)
        elif how.split()[0] in ("hold", "slow"):
            deliver_late(client, how)
        else:
            forward(client, how)
    except OSError:
        pass
    try:
        reset(client) if manner() == "cuts" else client.close()
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", PORT), backlog=64)
while True:
    threading.Thread(target=serve, args=(at_once(listener.accept()[0]),), daemon=True).start()
