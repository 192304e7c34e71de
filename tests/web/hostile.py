"""hostile - nodes, tests and entries whose names would be commands or markup.

Usage: hostile.py DIR; writes DIR/nodes.jsonl, DIR/results and DIR/screens.
SPDX-License-Identifier: MIT
"""

import json
import os
import sys
import urllib.parse

from texts import payloads

MARKUP = ["<img src=x onerror=alert(1)>", "\"><svg onload=alert(2)>", "javascript:alert(3)", "</script><script>alert(4)</script>",
          "{{alert(5)}}", "' onmouseover='alert(6)"]


def main():
    out = sys.argv[1]
    names = payloads(out + "/canary") + MARKUP
    with open(out + "/nodes.jsonl", "w", encoding="utf-8") as f:
        for i, name in enumerate(names):
            at = 1508112352 + i
            for seconds, event in ((0, "nodeprep:start"), (30, "nodeprep:end"), (31, "cascade:start"),
                                   (32, "cascade:pull-start"), (50, "cascade:pull-end"), (60, "cascade:gr-done")):
                f.write(json.dumps({"PartitionKey": "acct$texts", "RowKey": "%d.000000" % (at + seconds), "Event": event,
                                    "NodeId": name, "Message": "img=%s,diff=1.5,size=3MB" % name}) + "\n")
    os.mkdir(out + "/results")
    os.mkdir(out + "/archive")
    for i, name in enumerate(names):
        for k in range(3):
            with open("%s/results/%d-%d.json" % (out, i, k), "w", encoding="utf-8") as f:
                json.dump({"name": name, "startTime": str(1700000000 + k * 60), "entries": {
                    "entry": [{"name": each, "wallTime": 1 + k} for each in names[:4] + MARKUP]}}, f)
    quote = urllib.parse.quote
    screens = ["pools #/pools", "overview #/pool/acct%24texts", "breakdown #/pool/acct%24texts/breakdown",
               "map #/pool/acct%24texts/map", "results #/pool/acct%24texts/results"]
    for i, name in enumerate(MARKUP):
        screens.append("node-%d #/pool/acct%%24texts/node/%s" % (i, quote(name, safe="")))
        screens.append("entries-%d #/pool/acct%%24texts/results?test=%s" % (i, quote(name, safe="")))
        screens.append("timings-%d #/pool/acct%%24texts/results?test=%s&entry=%s" % (
            i, quote(name, safe=""), quote(name, safe="")))
        screens.append("no-pool-%d #/pool/%s nothing" % (i, quote("acct$" + name, safe="")))
        screens.append("filter-%d #/pool/acct%%24texts/breakdown?node=%s&order=name nothing" % (i, quote("none" + name, safe="")))
    with open(out + "/screens", "w", encoding="utf-8") as f:
        f.write("\n".join(screens) + "\n")


main()
