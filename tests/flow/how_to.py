"""how_to - makes the changes of the blocks of CONTRIBUTING.md in a copy of the tree.

    how_to.py CONTRIBUTING.md FOLDER        prints the files that it changed

The first line of a block names the file.  Of the others " " is there, as a whole line, "-"
is there and goes, "+" is new; the lines that are there stand together, and once.  "-" and
the "+" behind it may also be the begins of lines, of which the rest stays.
SPDX-License-Identifier: MIT
"""
import re
import sys
from pathlib import Path


def change(text, block, name):
    old = "".join(line[1:] + "\n" for line in block if line[0] in " -")
    new = "".join(line[1:] + "\n" for line in block if line[0] in " +")
    if "-" in [line[0] for line in block]:  # a begin of a line
        old, new = old[:-1], new[:-1]
    if ("\n" + text).count("\n" + old) != 1:
        sys.exit(f"CONTRIBUTING.md: not once in {name}:\n{old}")
    return ("\n" + text).replace("\n" + old, "\n" + new)[1:]


def main():
    text, root = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
    for found in re.findall(r"^```diff\n(.*?)^```", text, re.S | re.M):
        name, *block = found.splitlines()
        path = root / name
        if all(line[0] == "+" for line in block):
            if path.exists():
                sys.exit(f"CONTRIBUTING.md: {name} exists")
            path.write_text("".join(line[1:] + "\n" for line in block))
        else:
            path.write_text(change(path.read_text(), block, name))
        print(name)


main()
