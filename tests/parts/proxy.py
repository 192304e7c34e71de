#!/usr/bin/python3
"""proxy - stands before a real service, asks who is there and misbehaves.

	proxy.py PORT UPSTREAM-PORT LOG [--manners FILE] [--authorization TEXT]

Each request becomes a line of JSON in LOG before it is answered: method, path,
bytes (of its body), status, manner, passed: did the service see it?  How it is
answered says the next line of FILE, which is taken off: "pass", "status N"
(the service does not see it), "reset" (likewise, and no answer) or "late" (the
service sees it, and the answer is lost).  With --authorization other requests
get 401.
SPDX-License-Identifier: MIT
"""
import argparse, http.client, http.server, json, os, socket, struct, threading

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("upstream", type=int)
parser.add_argument("log")
parser.add_argument("--manners")
parser.add_argument("--authorization")
args = parser.parse_args()
lock = threading.Lock()
log = open(args.log, "a", buffering=1)


def next_manner():
    with lock:
        if not args.manners or not os.path.exists(args.manners):
            return "pass"
        with open(args.manners) as file:
            lines = file.read().splitlines()
        if not lines:
            return "pass"
        with open(args.manners, "w") as file:
            file.write("".join(line + "\n" for line in lines[1:]))
        return lines[0]


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the ACK of the head

    def log_message(self, *words):
        pass

    def reset(self):
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def answer(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def ask(self, body):
        upstream = http.client.HTTPConnection("127.0.0.1", args.upstream)
        headers = {k: v for k, v in self.headers.items()
                   if k.lower() not in ("host", "connection",
                                        "expect", "transfer-encoding")}
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        return answer.status, answer.read(), answer.getheader("Content-Type")

    def note(self, manner, status, body, passed):
        with lock:
            log.write(json.dumps({
                "method": self.command, "path": self.path, "bytes": len(body),
                "status": status, "manner": manner, "passed": passed}) + "\n")

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        manner = next_manner()
        if args.authorization and \
                self.headers.get("Authorization") != args.authorization:
            self.note(manner, 401, body, False)
            return self.answer(401, b"You are not authenticated.")
        if manner == "reset":
            self.note(manner, 0, body, False)
            return self.reset()
        if manner.startswith("status"):
            status = int(manner.split()[1])
            self.note(manner, status, body, False)
            return self.answer(status, b"not now")
        status, text, kind = self.ask(body)
        self.note(manner, status, body, True)
        if manner == "late":
            return self.reset()
        return self.answer(status, text, kind)

    do_GET = do_POST = do_PUT = handle_one


http.server.ThreadingHTTPServer.request_queue_size = 64
http.server.ThreadingHTTPServer(
    ("127.0.0.1", args.port), Proxy).serve_forever()
