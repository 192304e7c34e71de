"""chdb_front - a server of HTTP before the engine of today's ClickHouse, which runs
in this process (package chdb-core): one server, no replication.

	chdb_front.py PORT DIRECTORY

Answers POST /?query=SQL, with the body of an insert or the statement, and /ping, as
ClickHouse does: an error has a status, a header with its code, and its text.
SPDX-License-Identifier: MIT
"""
import http.server
import os
import re
import sys
import tempfile
import threading
import urllib.parse

from chdb.session import Session

PORT, DIRECTORY = int(sys.argv[1]), sys.argv[2]
engine, one = Session(DIRECTORY), threading.Lock()


def run(sql, body):
    """The answer.  The rows of an insert come from a file."""
    insert = re.fullmatch(r"\s*INSERT INTO (\S+) FORMAT (\w+)\s*", sql, re.I)
    if insert:
        with tempfile.NamedTemporaryFile(dir=DIRECTORY) as file:
            file.write(body)
            file.flush()
            return engine.query("INSERT INTO %s FROM INFILE '%s' COMPRESSION 'none' FORMAT %s" % (
                insert.group(1), file.name, insert.group(2)), "TabSeparated").bytes()
    sql = "\n".join(part for part in (sql, body.decode()) if part)
    return engine.query(sql, "TabSeparated").bytes()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the ACK of the head

    def answer(self, status, body, code=None):
        self.send_response(status)
        if code:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def do_POST(self):
        words = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
        body = self.body()
        try:
            with one:
                self.answer(200, run(words.get("query", ""), body) or b"")
        except Exception as error:
            code = re.search(r"Code: (\d+)", str(error))
            print(words.get("query", "")[:2000], body[:2000], error, sep="\n", flush=True)
            self.answer(500, (str(error) + "\n").encode(), code.group(1) if code else "1")

    def do_GET(self):
        if self.path == "/ping":
            self.answer(200, b"Ok.\n")
        else:
            self.do_POST()

    def log_message(self, *_):
        pass


os.makedirs(DIRECTORY, exist_ok=True)
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
