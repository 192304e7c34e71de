"""layers - what may include what.

1. Every #include of ours, or of a library that we wrap, is allowed by layers.txt:
   by the order of the folders, or by a row.
2. Folders depend on each other in one direction: no cycle between folders.  The
   programs, the files with main() at the top of an area, are leaves.
3. No two modules of a folder need each other, in one step or in several.  The
   parts of one (x.c, x_sort.c and their headers, x_private.h) may.
4. tests/unit has the folders of the sources, and tests lie in one of them.

Lines "cycle A B" in layers.txt are exceptions: folder or module A includes
something of B although it should not.  One that is no longer needed is an error, so
that the list only gets shorter.
SPDX-License-Identifier: MIT
"""
import fnmatch
import os
import re
import sys

AREAS = ["agents", "broker", "aggregator", "deploy", "exporters", "proto"]
SYSTEM = ("sys/", "netinet/", "arpa/", "linux/", "net/")
WRAPPED = re.compile(r"(zmq|msgpack|lmdb|zstd|confuse|sodium|zlib|libdeflate|expat|ncurses|term)\.h$|curl/|openssl/|double-conversion/")
INCLUDE = re.compile(r'^#include ["<]([^">]*)[">]', re.M)
wrong = []


def files():
    for area in AREAS + ["tests"]:
        for folder, _, names in os.walk(area):
            yield from (folder + "/" + name for name in names if name.endswith((".c", ".h", ".cc")))


def components(graph):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def cycles(graph, excepted, what):
    """Say which cycles there are without the excepted edges, and which exceptions
    are not part of one."""
    together = {node: number for number, nodes in enumerate(components(graph)) for node in nodes}
    needless = [edge for edge in excepted
                if edge[1] not in graph.get(edge[0], {}) or together.get(edge[0], -1) != together.get(edge[1], -2)]
    cut = {node: {o: w for o, w in others.items() if (node, o) not in excepted}
           for node, others in graph.items()}
    for nodes in components(cut):
        wrong.append("%s depend on each other: %s" % (what, " ".join(nodes)))
        for node in nodes:
            for other in sorted(set(cut[node]) & set(nodes)):
                wrong.append("    %s needs %s: %s" % (node, other, cut[node][other]))
    return needless


def main():
    sys.setrecursionlimit(10000)
    rules, excepted, order = [], set(), {}
    for line in re.sub(r"\n +", " ", open("tests/lint/layers.txt").read()).splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "order":
            may = []
            for each in words[1:]:
                if os.path.isdir(each):
                    may.append(re.compile(re.escape(each) + "/[^/]*$"))
                    order[each] = list(may)
                elif each.endswith("*") or os.path.exists(each + ".h"):
                    may.append(re.compile(fnmatch.translate(each)))
                else:
                    wrong.append("layers.txt: there is no %s" % each)
            continue
        if words[0] == "cycle":
            excepted.add((words[1], words[2]))
        else:
            rules.append((re.compile(fnmatch.translate(words[0])),
                          [re.compile(fnmatch.translate(each)) for each in words[1:]]))

    folders, modules = {}, {}
    for path in sorted(files()):
        self = path.rsplit(".", 1)[0]
        folder = os.path.dirname(path)
        allowed = order.get(folder, []) + next((may for who, may in rules if who.match(self)), [])
        for name in INCLUDE.findall(open(path).read()):
            if name.startswith(SYSTEM):
                continue
            if WRAPPED.match(name):
                target = name
            elif "/" in name and name.endswith(".h"):
                target = name[:-2]
            else:
                continue
            if target != self and not any(may.match(target) for may in allowed):
                wrong.append("%s may not include %s" % (path, name))
            if path.startswith("tests/") or not os.path.exists(name):
                continue
            there = os.path.dirname(name)
            if there != folder:
                if "/" in folder:
                    folders.setdefault(folder, {}).setdefault(there, "%s includes %s" % (path, name))
            elif not (self + "_").startswith(target + "_") and not (target + "_").startswith(self + "_") and \
                    not self.endswith("_private") and not target.endswith("_private"):
                modules.setdefault(self, {}).setdefault(target, "%s includes %s" % (path, name))
    needless = (set(cycles(folders, excepted, "folders")) &
                set(cycles(modules, excepted, "modules")))
    for edge in sorted(needless):
        wrong.append("layers.txt: \"cycle %s %s\" is no longer needed" % edge)

    for folder, _, names in os.walk("tests/unit"):
        source = folder[len("tests/unit/"):]
        if source and not os.path.isdir(source):
            wrong.append("%s: there is no folder %s" % (folder, source))
        if "/" not in source and any(name.endswith(".c") for name in names):
            wrong.append("%s: a test lies in the folder of what it tests" % folder)
    for each in wrong:
        print(each)
    return 1 if wrong else 0


sys.exit(main())
