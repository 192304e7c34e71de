"""size - functions have at most 60 lines, folders at most 22 source files.

size.txt has the exceptions: functions by name, and folders with the number of files
that they may have until they are divided.  One that is no longer needed is an error,
so that the list only gets shorter.
SPDX-License-Identifier: MIT
"""
import os
import subprocess
import sys

AREAS = ["agents", "broker", "aggregator", "deploy", "exporters", "proto"]
LINES, FILES = 60, 22
wrong = []
allowed = {}
for line in open("tests/lint/size.txt"):
    words = line.split("#")[0].split()
    if words:
        allowed[words[0]] = int(words[1])

sources, over = [], {}
for area in AREAS:
    for folder, _, names in os.walk(area):
        here = [name for name in names if name.endswith((".c", ".h", ".cc"))]
        sources += [folder + "/" + name for name in here if name.endswith(".c")]
        if len(here) > FILES:
            over[folder] = (len(here), "%s has %d source files, and a folder at most %d" % (folder, len(here), FILES))
tags = subprocess.run(["ctags", "-L", "-", "-f", "-", "--kinds-C=f", "--fields=+ne"],
                      input="\n".join(sorted(sources)), text=True, capture_output=True, check=True).stdout
for line in tags.splitlines():
    name, path, *rest = line.split("\t")
    at = dict(field.split(":", 1) for field in rest if ":" in field)
    lines = int(at["end"]) - int(at["line"]) + 1 if "end" in at else 0
    if lines > LINES:
        over[name] = (lines, "%s: %s has %d lines, and a function at most %d" % (path, name, lines, LINES))
for name, (number, what) in sorted(over.items()):
    if number > allowed.get(name, 0):
        wrong.append("%s (tests/lint/size.txt allows %s)" % (what, allowed[name]) if name in allowed else what)
wrong += ["size.txt: %s is no longer needed" % name for name in sorted(set(allowed) - set(over))]
for each in wrong:
    print(each)
sys.exit(1 if wrong else 0)
