"""words - no word of the project's old private language in what people read.

    python3 tests/lint/words.py               the areas that words.txt calls clean
    python3 tests/lint/words.py PATH...       any file or folder, clean or not
    python3 tests/lint/words.py --count       how many there are in each folder

Read are manual pages, README and other Markdown, of C the comments and the string
literals (messages, --help), of scripts the comments and what they print.  Names of
functions, variables and files are not: an identifier is one word, with its
underscores.  words.txt has the words, what is written instead, and what is fine.
SPDX-License-Identifier: MIT
"""
import fnmatch
import os
import re
import sys

ROOTS = ["agents", "aggregator", "broker", "deploy", "exporters", "proto", "tests"]
C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.M)
SCRIPT = re.compile(r'^[ \t]*#[^\n]*|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.M)
# Letters after a backslash belong to an escape: \n, \t.
ESCAPE = re.compile(r"\\[abfnrtv0-7]")
# Of options and of names with dots or slashes only the whole is a word.
EDGE, END = r"(?<![\w./%-])(?:", r")(?![\w/-])(?!\.\w)"


def like(path, pattern):
    """FOLDER/ is all that it has, and * does not match a slash."""
    if pattern.endswith("/"):
        return path.startswith(pattern)
    return path.count("/") == pattern.count("/") and fnmatch.fnmatch(path, pattern)


class Words:
    def __init__(self, path):
        self.words, self.fine, self.keep, self.clean = [], [], [], []
        for line in open(path):
            line = line.strip()
            kind, _, rest = line.partition(" ")
            if kind == "word":
                rest, _, paths = rest.partition(" @ ")
                pattern, _, instead = rest.partition(" = ")
                self.words.append((pattern, instead, paths.split()))
            elif kind == "fine":
                self.fine.append("(?:%s)" % rest)
            elif kind == "keep":
                self.keep.append(tuple(rest.split(" ", 1)))
            elif kind == "clean":
                self.clean += rest.split()

        self.ordinary = re.compile(EDGE + "|".join(self.fine) + END, re.I)

    def of(self, path):
        """What to look for in a file: one expression, and what to say."""
        here = [(p, i) for p, i, paths in self.words if not paths or any(like(path, f) for f in paths)]
        known = [re.compile(EDGE + p + END, re.I) for p, _ in here]
        every = re.compile(EDGE + "|".join("(?:%s)" % p for p, _ in here) + END, re.I)
        return every, lambda word: next(i for k, (_, i) in zip(known, here) if k.fullmatch(word))

    def kept(self, path):
        return [re.compile(EDGE + p + END) for f, p in self.keep if like(path, f)]


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def text_of(path):
    """What is read of a file, at its place; all else is blanks."""
    text = open(path, encoding="utf-8", errors="replace").read()
    if re.search(r"\.(md|[1-8])$", path):
        return text
    if path.endswith((".c", ".h", ".cc")):
        expression, text = C, INCLUDE.sub(blank, text)
    else:
        expression = SCRIPT
    out, at = [], 0
    for match in expression.finditer(text):
        out.append(re.sub(r"[^\n]", " ", text[at:match.start()]))
        out.append(ESCAPE.sub("  ", match.group()))
        at = match.end()
    return "".join(out) + re.sub(r"[^\n]", " ", text[at:])


def read(path):
    return re.search(r"\.(md|c|h|cc|sh|[1-8])$", path) or \
        path == "deploy/poolscope-config"


def files(path):
    if os.path.isfile(path):
        yield os.path.normpath(path)
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            if read(os.path.normpath(folder + "/" + name)):
                yield os.path.normpath(folder + "/" + name)


def found(words, path):
    every, instead = words.of(path)
    text = text_of(path)
    text = words.ordinary.sub(blank, text)
    for kept in words.kept(path):
        text = kept.sub(blank, text)
    for number, line in enumerate(text.split("\n"), 1):
        for match in every.finditer(line):
            yield number, match.group(), instead(match.group().lower())


def main(arguments):
    words = Words("tests/lint/words.txt")
    everything = [f for root in ROOTS for f in files(root)] + [f for f in sorted(os.listdir(".")) if f.endswith(".md")]
    if arguments == ["--count"]:
        counts = {}
        for path in everything:
            at = os.path.dirname(path) or path
            counts[at] = counts.get(at, 0) + len(list(found(words, path)))
        for path, count in sorted(counts.items()):
            print("%5d  %s" % (count, path))
        print("%5d  in all" % sum(counts.values()))
        return 0
    if arguments:
        chosen = [f for path in arguments for f in files(path)]
    else:
        chosen = [f for f in everything if any(like(f, area) for area in words.clean)]
        stale = [area for area in words.clean if not any(like(f, area) for f in everything)]
        for area in stale:
            print("words.txt: there is nothing like %s" % area)
    status = 0
    for path in chosen:
        for number, word, instead in found(words, path):
            print('%s:%d: "%s"; write: %s' % (path, number, word, instead))
            status = 1
    return status


sys.exit(main(sys.argv[1:]))
