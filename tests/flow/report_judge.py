"""report_judge - what is inside a report.

Usage: report_judge.py answer FILE KEY    print that answer
       report_judge.py keys FILE          print the keys of all
       report_judge.py trace FILE         print the trace
       report_judge.py none FILE NAMES    exit 1 if a line of NAMES is anywhere in it
SPDX-License-Identifier: MIT
"""

import base64
import gzip
import json
import re
import sys
import zlib


def block(text, name):
    found = re.search(r'<script type="application/octet-stream" id="%s">([^<]*)</script>' % name, text)
    return base64.b64decode(found.group(1), validate=True) if found else b""


def packets(trace):
    """The bytes of a .pftrace whose packets are compressed: zlib streams among the rest."""
    whole = trace
    for at in range(len(trace) - 2):
        if trace[at] == 0x78 and (trace[at] << 8 | trace[at + 1]) % 31 == 0:
            try:
                whole += zlib.decompressobj().decompress(trace[at:])
            except zlib.error:
                pass
    return whole


def main():
    word, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    data = block(text, "data")
    answers = json.loads(gzip.decompress(data))["answers"] if data else {}
    if word == "answer":
        sys.stdout.write(answers[sys.argv[3]])
    elif word == "keys":
        print("\n".join(sorted(answers)))
    elif word == "trace":
        sys.stdout.buffer.write(block(text, "trace"))
    else:
        trace = block(text, "trace")
        whole = text.encode() + (gzip.decompress(data) if data else b"")
        whole += packets(gzip.decompress(trace)) if trace else b""
        with open(sys.argv[3], "rb") as f:
            left = [name for name in f.read().splitlines() if name and name in whole]
        for name in left[:5]:
            print("left: %r" % name)
        sys.exit(1 if left else 0)


main()
