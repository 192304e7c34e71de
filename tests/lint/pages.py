"""pages - a manual page and --help-all give an option the same default, and the programs
that an example calls have the options that it uses.

    pages.py BIN PAGE...    prints what differs; exit status 1 if anything does

A PAGE is a manual page, or Markdown with blocks of sh.  BIN has the programs.

SPDX-License-Identifier: MIT
"""
import functools
import re
import subprocess
import sys
from pathlib import Path

# A default that has one spelling: a number with a unit, a path, an endpoint.
LITERAL = re.compile(r"(?:-?\d[\w.]*|(?:ipc://)?DIR/[\w./-]+)$")


@functools.cache
def run(program, *verb):
    return subprocess.run([program, *verb, "--help-all"], capture_output=True, text=True, check=True).stdout


def help_of(program):
    """The help of each long option, by its name."""
    options, name = {}, None
    for line in run(program).splitlines():
        found = re.match(r"  (?:-\w,|   ) --([\w-]+)(.*)", line)
        if found:
            name = found[1]
            options[name] = found[2]
        elif name and line.startswith(" " * 27):
            options[name] += " " + line.strip()
        else:
            name = None
    return options


def items_of(page):
    """The text under each option of a page, by its name, macros included."""
    items, names = {}, []
    for line in page.splitlines():
        if line.startswith(".It "):
            names = re.findall(r"Fl -([\w-]+)", line)
        elif line.startswith(".Sh "):
            names = []
        for name in names:
            items[name] = items.get(name, "") + line + "\n"
    return items


def defaults(page, program):
    items = items_of(page)
    for name, text in help_of(program).items():
        found = re.search(r"\(default: ([^;,) ]+)", text)
        default = found[1] if found else ""
        if LITERAL.match(default) and not re.search(
                r"(?<![\w./])" + re.escape(default) + r"(?![\w/])", items.get(name, "")):
            yield f"--{name}: the default {default} of --help-all is not in the page"


def commands(text, is_page):
    """What the examples call: verb and arguments of each poolscope VERB."""
    if is_page:
        text = text.partition("\n.Sh EXAMPLES\n")[2].split("\n.Sh ")[0]
    else:
        text = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M))
    for line in re.sub(r"\\e?\n\s*", " ", text).splitlines():
        for command in re.split(r"[|;#]| && ", line):
            found = re.search(r"(?:^|\s)poolscope[- ](\w+) (.*)", command)
            if found:
                yield found[1], found[2].split(" -- ")[0]


def examples(text, is_page, bin_dir):
    verbs = {"backup": "admin", "restore": "admin", "models": "admin", "status": "stats", "nodes": "stats",
             "job": "emit", "partition": "partitions"}
    questions = re.findall(r"^  ([a-z]+) ", run(bin_dir / "poolscope-stats").partition("options:")[0], re.M)
    for verb, rest in commands(text, is_page):
        program = bin_dir / f"poolscope-{verbs.get(verb, verb)}"
        if program.stem == "poolscope-stats":
            asked = [verb, *rest.split()][verb == "stats"]
            text = run(program, *([asked] if asked in questions else []))
        else:
            text = run(program) if program.exists() else run(bin_dir / "poolscope", verb)
        known = set(re.findall(r"--([a-z][\w-]*)", text))
        for name in re.findall(r"(?<!\S)--(?:no-)?([a-z][\w-]*)", rest):
            if name not in known:
                yield f"example: {verb} has no option --{name}"


@functools.cache
def known_options(bin_dir):
    """The options of all programs and of the verbs of the front command, without dashes."""
    front = bin_dir / "poolscope"
    texts = [run(each) for each in sorted(bin_dir.glob("poolscope*"))]
    texts += [run(front, verb) for verb in re.findall(r"^  ([a-z]+) {2,}", run(front), re.M)]
    return set(re.findall(r"--([a-z][\w-]*)", "".join(texts)))


# Options of programs of others that pages mention.
OTHERS = {"serve-artifacts"}


def unknown(page, bin_dir):
    """Options that a page names and no program has."""
    known = known_options(bin_dir) | OTHERS
    for name in sorted(set(re.findall(r"Fl -([a-z][\w-]*)", page))):
        if name not in known and name.removeprefix("no-") not in known:
            yield f"no program has an option --{name}"


def judge(path, bin_dir):
    text = path.read_text()
    is_page = path.suffix != ".md"
    program = bin_dir / path.stem
    wrong = list(examples(text, is_page, bin_dir))
    if program.exists() and path.stem != "poolscope":
        several = sorted(path.parent.glob("poolscope-stats-*.1")) if path.stem == "poolscope-stats" else []
        wrong += defaults(text + "".join(page.read_text() for page in several), program)
    if is_page:
        wrong += unknown(text, bin_dir)
    for each in wrong:
        print(f"{path}: {each}")
    return bool(wrong)


def main():
    wrong = [path for path in sys.argv[2:] if judge(Path(path), Path(sys.argv[1]))]
    sys.exit(bool(wrong))


main()
