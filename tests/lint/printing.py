"""printing - how many functions print a table, CSV or JSON by hand, at most those of printing.txt.

Rows are given to proto/answer, and only its printers know formats.  What is counted are the
functions outside of the printers that call what a writer's header declares.  The numbers may
only go down: whoever needs a new one asks first whether it is an answer.
SPDX-License-Identifier: MIT
"""
import re
import subprocess
import sys
from collections import defaultdict

AREAS = ["agents", "broker", "aggregator", "deploy", "exporters", "proto"]
WRITERS = ["proto/format/table.h", "proto/json/json.h"]
PRINTERS = ("proto/answer/", "proto/format/", "proto/json/")


def tags(kind, paths):
    """(name, path, first line, last line) of each."""
    done = subprocess.run(["ctags", "-L", "-", "-f", "-", "--kinds-C=" + kind, "--language-force=C", "--fields=+ne"],
                          input="\n".join(paths), text=True, capture_output=True, check=True)
    for line in done.stdout.splitlines():
        name, path, *rest = line.split("\t")
        at = dict(field.split(":", 1) for field in rest if ":" in field)
        yield name, path, int(at["line"]), int(at.get("end", at["line"]))


def main():
    with open("tests/lint/printing.txt") as file:
        most = {words[0]: int(words[1]) for words in (line.split("#")[0].split() for line in file) if words}
    areas = sorted({*AREAS, *most})
    writes = [name for name, *_ in tags("p", WRITERS)]
    if len(writes) < 10:
        print("printing: the headers of the writers declare %d functions: look at WRITERS" % len(writes))
        return 1
    call = re.compile(r"\b(%s)\s*\(" % "|".join(writes))
    sources = subprocess.run(["find", *AREAS, "-name", "*.c"], text=True, capture_output=True, check=True).stdout.split()
    sources = sorted(path for path in sources if not path.startswith(PRINTERS))
    found, lines_of = defaultdict(list), {}
    for name, path, first, last in tags("f", sources):
        if path not in lines_of:
            with open(path) as file:
                lines_of[path] = file.read().splitlines()
        if call.search("\n".join(lines_of[path][first - 1:last])):
            found[max((area for area in areas if path.startswith(area + "/")), key=len)].append("%s: %s" % (path, name))
    wrong = False
    for area in areas:
        count, limit = len(found[area]), most.get(area, 0)
        if count > limit:
            print("\n".join(found[area]))
            print("printing: %d functions of %s print by hand, and %d may: give rows to proto/answer (answer.h)" % (count, area, limit))
            wrong = True
        elif count < limit:
            print("hint: %d functions of %s print by hand: lower its %d in tests/lint/printing.txt" % (count, area, limit))
    return wrong


sys.exit(main())
