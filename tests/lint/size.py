"""size - functions have at most 110 lines, source files at most 800.

A folder with more than 30 source files is only named: it may have a good reason.
SPDX-License-Identifier: MIT
"""
import os
import subprocess
import sys

AREAS = ["agents", "broker", "aggregator", "deploy", "exporters", "proto"]
FUNCTION, FILE, FOLDER = 110, 800, 30
wrong, sources = [], []

for area in AREAS:
    for folder, _, names in os.walk(area):
        here = [folder + "/" + name for name in names if name.endswith((".c", ".h", ".cc"))]
        sources += here
        if len(here) > FOLDER:
            print("hint: %s has %d source files" % (folder, len(here)))
for path in sorted(sources):
    with open(path) as file:
        lines = sum(1 for _ in file)
    if lines > FILE:
        wrong.append("%s has %d lines, and a file at most %d" % (path, lines, FILE))
tags = subprocess.run(["ctags", "-L", "-", "-f", "-", "--kinds-C=f", "--fields=+ne"],
                      input="\n".join(path for path in sorted(sources) if path.endswith(".c")), text=True, capture_output=True, check=True).stdout
for line in tags.splitlines():
    name, path, *rest = line.split("\t")
    at = dict(field.split(":", 1) for field in rest if ":" in field)
    lines = int(at["end"]) - int(at["line"]) + 1 if "end" in at else 0
    if lines > FUNCTION:
        wrong.append("%s: %s has %d lines, and a function at most %d" % (path, name, lines, FUNCTION))
for each in wrong:
    print(each)
sys.exit(1 if wrong else 0)
