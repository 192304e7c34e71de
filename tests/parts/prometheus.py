"""prometheus - serves metrics to a Prometheus, and asks it the questions of the dashboard.

Usage: prometheus.py serve PORT FILE TYPE | up URL | questions URL DASHBOARD
serve answers each request with the file as it is then, and says what was asked for in FILE.asked.
up prints the health of each target.  questions prints each title whose question fails or
has no answer.
SPDX-License-Identifier: MIT
"""

import http.server
import json
import re
import sys
import urllib.parse
import urllib.request


def serve(port, path, kind):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = open(path, "rb").read()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            with open(path + ".asked", "w") as f:
                f.write(self.headers.get("Accept", ""))

        def log_message(self, *_):
            pass
    http.server.HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


def ask(url, path, **query):
    with urllib.request.urlopen(url + path + "?" + urllib.parse.urlencode(query), timeout=20) as answer:
        return json.load(answer)["data"]


def up(url):
    print(*(target["health"] + target["lastError"] for target in ask(url, "/api/v1/targets")["activeTargets"]))


def questions(url, dashboard):
    asked = 0
    for panel in json.load(open(dashboard))["panels"]:
        for target in panel["targets"]:
            expr = target["expr"].replace("$partition", ".*").replace("$__rate_interval", "20s")
            assert not re.search(r"\$", expr), expr
            asked += 1
            try:
                result = ask(url, "/api/v1/query", query=expr)["result"]
            except OSError as error:
                result = error
            if not isinstance(result, list) or not result or all(r["value"][1] == "NaN" for r in result):
                print(panel["title"], result)
    assert asked >= 20, asked


if __name__ == "__main__":
    {"serve": serve, "up": up, "questions": questions}[sys.argv[1]](*sys.argv[2:])
