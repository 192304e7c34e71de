#!/usr/bin/python3
"""web - an HTTP service with bad manners, which remembers what it was sent.

	web.py PORT-FILE LOG [--manners FILE] [--random SEED PERCENT]
	       [--tls CERTIFICATE KEY] [--answer FILE] [--status N]

Listens on a free port of 127.0.0.1 and writes its number into PORT-FILE once
it does.  Each request becomes a line of JSON in LOG before it is answered:

	number, method, path, headers (lower-case names), text (the body, unpacked
	when it came as gzip) or base64, bytes, sha256 (of the body as it came),
	manner, stored: did the service take the body, whatever it answered?

How it answers: what the query says (?manner=status+404), else the next line of
FILE, which may be put there by rename at any time and is taken off, else at
random, else 204 or what --status and --answer say, with an ETag when it has no
body.  A line "429 0 x3" counts
for three requests, "x*" for all.

	status N [TEXT]  429|500|503 [RETRY-AFTER]  redirect URL  etag TEXT
	page [STATUS]    200, and a page of HTML, as a proxy or a hotel has
	refuse WORD N    N and nothing is stored when a line has this word, else ok
	half             an answer that ends before its length; the body is stored
	late             the connection is reset after the body was stored
	reset            the connection is reset, the body is not stored
	close            closed without an answer
	drip             a byte of a header now and then, for ever
	endless          a body without end
	headers          headers without end
	continues        100 Continue without end
	garbage          not HTTP
	silence          nothing, until the other side goes
	echo             400, and all headers and the query in the body
SPDX-License-Identifier: MIT
"""
import argparse, base64, gzip, hashlib, json, os, random, socket, ssl, struct
import sys, threading, time, urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("port_file")
parser.add_argument("log")
parser.add_argument("--manners")
parser.add_argument("--random", nargs=2, type=int, default=(0, 0))
parser.add_argument("--tls", nargs=2)
parser.add_argument("--answer")
parser.add_argument("--status", type=int, default=204)
args = parser.parse_args()

lock = threading.Lock()
queue = []
number = 0
dice = random.Random(args.random[0])
log = open(args.log, "a", buffering=1)


def next_manner(target):
    """What to do with the next request, as words; under the lock."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
    if "manner" in query:
        return query["manner"][0].split(" ")
    if args.manners and os.path.exists(args.manners):
        with open(args.manners) as file:
            lines = file.read().splitlines()
        os.unlink(args.manners)
        queue.clear()
        for line in lines:
            words = line.split(" ")
            times = 1
            if len(words) > 1 and words[-1][0] == "x" and words[-1][1:].isdigit():
                times = int(words.pop()[1:])
            queue.extend([words] * times)
    if queue:
        return queue[0][:-1] if queue[0][-1] == "x*" else queue.pop(0)
    if dice.randrange(100) < args.random[1]:
        return dice.choice((["429", "0"], ["500"], ["503", "0"], ["half"],
                            ["late"], ["reset"], ["close"]))
    return ["ok"]


def stores(manner, text):
    if manner[0] == "status":
        return 200 <= int(manner[1]) < 300
    if manner[0] == "refuse":
        return manner[1] not in text
    return manner[0] in ("ok", "half", "late")


class Gone(Exception):
    pass


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.buffer = b""

    def more(self):
        data = self.sock.recv(1 << 18)
        if not data:
            raise Gone
        self.buffer += data

    def until(self, mark):
        while mark not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def exactly(self, n):
        parts, have = [self.buffer], len(self.buffer)
        while have < n:
            data = self.sock.recv(1 << 20)
            if not data:
                raise Gone
            parts.append(data)
            have += len(data)
        whole = b"".join(parts)
        self.buffer = whole[n:]
        return whole[:n]

    def body(self, headers):
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return self.exactly(int(headers.get("content-length", 0)))
        whole = b""
        while True:
            n = int(self.until(b"\r\n").split(b";")[0], 16)
            whole += self.exactly(n)
            self.until(b"\r\n")
            if n == 0:
                return whole

    def request(self):
        global number
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        body = self.body(headers)
        entry = {"method": method, "path": target, "headers": headers,
                 "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        try:
            entry["text"] = plain.decode()
        except UnicodeDecodeError:
            entry["base64"] = base64.b64encode(plain).decode()
        with lock:
            number += 1
            manner = next_manner(target)
            entry.update(number=number, manner=" ".join(manner), stored=stores(manner, entry.get("text", "")))
            log.write(json.dumps(entry) + "\n")
        return entry, manner

    def send(self, text):
        self.sock.sendall(text.encode("latin-1") if isinstance(text, str) else text)

    def answer(self, status, body=b"", more="", length=None):
        if status == 204:
            self.send("HTTP/1.1 204 No Content\r\n%s\r\n" % more)
            return
        self.send("HTTP/1.1 %d Some\r\nContent-Length: %d\r\n%s\r\n" % (
            status, len(body) if length is None else length, more))
        self.send(body)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
        raise Gone

    def behave(self, entry, manner):
        kind = manner[0]
        if kind == "ok":
            body = open(args.answer, "rb").read() if args.answer else b""
            self.answer(200 if body and args.status == 204 else args.status, body,
                        "" if body else 'ETag: "stored"\r\n')
        elif kind == "status":
            body = " ".join(manner[2:]).encode()
            self.answer(int(manner[1]), body, "" if body else 'ETag: "stored"\r\n')
        elif kind == "page":
            self.answer(int(manner[1]) if len(manner) > 1 else 200,
                        b"<!DOCTYPE html><html><title>Welcome to our hotel</title></html>",
                        'Content-Type: text/html; charset=utf-8\r\nETag: "page"\r\n')
        elif kind == "refuse":
            wrong = [l for l in entry.get("text", "").splitlines() if manner[1] in l]
            if wrong:
                self.answer(int(manner[2]), ("unable to take '%s'" % wrong[0][:60]).encode())
            else:
                self.behave(entry, ["ok"])
        elif kind in ("429", "500", "503"):
            more = "Retry-After: %s\r\n" % " ".join(manner[1:]) if len(manner) > 1 else ""
            self.answer(int(kind), b"not now", more)
        elif kind == "etag":
            self.answer(200, b"", "ETag: %s\r\n" % manner[1])
        elif kind == "redirect":
            self.answer(302, b"", "Location: %s\r\n" % manner[1])
        elif kind == "half":
            self.answer(200, b"half of", length=1000)
            raise Gone
        elif kind in ("late", "reset"):
            self.reset()
        elif kind == "close":
            raise Gone
        elif kind == "echo":
            self.answer(400, ("you sent %s %s" % (
                entry["path"], " ".join(entry["headers"].values()))).encode())
        elif kind == "garbage":
            self.send("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
            raise Gone
        elif kind == "silence":
            while True:
                self.more()
        elif kind == "drip":
            self.send("HTTP/1.1 200 OK\r\nX: ")
            while True:
                self.send("y")
                time.sleep(0.05)
        elif kind == "endless":
            self.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                self.send("10000\r\n" + "x" * 0x10000 + "\r\n")
        elif kind == "headers":
            self.send("HTTP/1.1 200 OK\r\n")
            while True:
                self.send("X-More: %s\r\n" % ("y" * 1000))
        elif kind == "continues":
            while True:
                self.send("HTTP/1.1 100 Continue\r\n\r\n")
        else:
            raise SystemExit("web.py: no such manner: " + kind)


def serve(sock):
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if args.tls:
            sock = context.wrap_socket(sock, server_side=True)
        connection = Connection(sock)
        while True:
            connection.behave(*connection.request())
    except (Gone, OSError):
        pass
    finally:
        sock.close()


if args.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*args.tls)
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
with open(args.port_file + ".new", "w") as file:
    file.write("%d\n" % listener.getsockname()[1])
os.rename(args.port_file + ".new", args.port_file)
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
