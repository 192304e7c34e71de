"""releases - what tests/golden/release.sh keeps of a release, and what tests ask of it.

	releases.py tables STORE TABLE...       each of these tables has rows (python-lmdb)
	releases.py cut SPOOL                   cut the last frame in its middle
	releases.py flip SPOOL WORD             change a byte of WORD
	releases.py put SOCKET FILE CAPTURED    submit the frame of a file, note both directions
	releases.py names                       print the names that programs and people call
	releases.py lost FILE                   print which names of FILE are not there any more
	releases.py within KEPT NOW             print which lines of JSON of KEPT are not in NOW, each
	                                        with all of its members
	releases.py types FILE TYPE...          which of these types of frames are not in FILE
	releases.py replay FILE ENDPOINT TYPE...  send the frames of these types; print the types
	                                        of the answers

Prints a sentence for each thing that is wrong, and fails.
SPDX-License-Identifier: MIT
"""
import ast
import csv
import glob
import inspect
import json
import os
import re
import socket
import struct
import subprocess
import sys

TYPES = "hello welcome batch ack nack bye gap select page stats status put follow".split()
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def tables(store, *wanted):
    import lmdb
    env = lmdb.open(store + "/tables", max_dbs=64, readonly=True, lock=False)
    with env.begin() as txn:
        for name in wanted:
            if txn.stat(env.open_db(name.encode(), txn=txn, create=False))["entries"] == 0:
                yield "table %s of %s has no rows" % (name, store)


def last_segment(spool):
    return sorted(glob.glob(spool + "/*.seg"))[-1]


def cut(spool):
    """Frames are aligned to 8 bytes (proto/spool.md)."""
    with open(last_segment(spool), "r+b") as file:
        data = file.read()
        at = data.rindex(b"PSFR")
        size = struct.unpack_from("<I", data, at + 4)[0]
        if size == 0 or at % 8:
            yield "the last frame is no batch"
        file.truncate(at + 56 + size // 2)


def flip(spool, word):
    path = last_segment(spool)
    with open(path, "r+b") as file:
        at = file.read().rfind(word.encode())
        if at < 0:
            yield "%s is not in %s" % (word, path)
            return
        file.seek(at)
        file.write(b"F")


def put(path, file, captured):
    with open(file, "rb") as source, open(captured, "wb") as to, socket.socket(
            socket.AF_UNIX, socket.SOCK_SEQPACKET) as agent:
        agent.settimeout(30)
        agent.connect(path)
        frame = source.read()
        agent.send(frame)
        to.write(frame + agent.recv(1 << 16))
    if [type_of(each) for each in frames(captured)] != ["put", "ack"]:
        yield "the agent does not take the put of %s" % file


# ---- names


def of_routes():
    with open(ROOT + "/exporters/web/openapi.json") as file:
        api = json.load(file)

    def members(schema, before=""):
        schema = schema.get("items", schema)
        for name, of in schema.get("properties", {}).items():
            yield before + name
            yield from members(of, before + name + ".")

    for path, item in api["paths"].items():
        for method, of in item.items():
            route = "%s %s" % (method.upper(), path)
            yield "routes", route.replace(" ", "_")
            for parameter in of.get("parameters", []):
                if "$ref" in parameter:
                    parameter = api["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
                yield route + " takes", parameter["name"]
            for content in of["responses"]["200"].get("content", {}).values():
                for name in members(content.get("schema", {})):
                    yield route + " answers", name


def of_python():
    """Parameters are those of the stub, which the tests of the module compare with it."""
    import poolscope
    import poolscope.store
    yield from (("python poolscope", name) for name in (*poolscope.__all__, "Store", "StoreError", "Incomplete"))
    for each in poolscope.store.Store, poolscope.store.Table:
        yield from (("python poolscope." + each.__name__, name) for name in dir(each) if name[0] != "_")
        for name, method in inspect.getmembers(each, inspect.isfunction):
            yield from (("python poolscope.%s.%s()" % (each.__name__, name), of)
                        for of in inspect.signature(method).parameters if of != "self" and name[0] != "_")
    folder = os.path.dirname(poolscope.__file__)
    with open(folder + "/__init__.pyi") as file:
        for each in ast.parse(file.read()).body:
            if isinstance(each, ast.ClassDef) and each.name[0] != "_":
                yield from (("python poolscope." + each.name, of.name) for of in each.body
                            if isinstance(of, ast.FunctionDef) and of.name[:2] != "__")
            if isinstance(each, ast.FunctionDef):
                yield from (("python poolscope.%s()" % each.name, of.arg) for of in each.args.args + each.args.kwonlyargs)


def of_questions():
    for program, words in (("stats", None), ("dump", [[]]), ("results", [["tests"], ["starts", "t"], ["entries", "t"],
                                                                         ["timings", "t", "e"], ["changes", "t", "e"]])):
        if words is None:
            text = subprocess.run(["poolscope-" + program, "--help"], capture_output=True, text=True, check=True).stdout
            words = [[word] for word in re.findall(r"^  ([a-z]+)(?: [A-Z ]+)?\s{2,}\S", text[:text.index("options:")], re.M)]
        for word in words:
            done = subprocess.run(["poolscope-" + program, *word, "--columns", "help", "--format", "csv"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                for column in csv.DictReader(done.stdout.splitlines()):
                    yield "columns of " + " ".join([program, *word[:1]]), column["column"]


def of_c():
    text = subprocess.run(["nm", "-D", "--defined-only", os.environ["B"] + "/libpoolscope.so"],
                          capture_output=True, text=True, check=True).stdout
    yield from (("libpoolscope", name) for name in re.findall(r" T (poolscope_\w+)", text))


def all_names():
    found = {}
    for of in (of_routes, of_python, of_questions, of_c):
        for where, name in of():
            found.setdefault(where, set()).add(name)
    return found


def names():
    for where, of in sorted(all_names().items()):
        print("%s: %s" % (where, " ".join(sorted(of))))
    return []


def lost(path):
    now = all_names()
    with open(path) as file:
        for line in file:
            where, _, of = line.strip().partition(": ")
            for name in sorted(set(of.split()) - now.get(where, set())):
                yield "%s: a release had %s, and people use it: keep the name" % (where, name)


# ---- answers


def has(kept, now):
    """All that was there is there, and is equal."""
    if isinstance(kept, dict):
        return isinstance(now, dict) and all(name in now and has(value, now[name]) for name, value in kept.items())
    return kept == now


def within(kept, now):
    with open(kept) as file:
        old = [json.loads(line) for line in file]
    with open(now) as file:
        new = [json.loads(line) for line in file]
    if len(old) != len(new):
        yield "%d lines, not the %d of %s" % (len(new), len(old), kept)
    for number, (one, other) in enumerate(zip(old, new), 1):
        if not has(one, other):
            yield "%s line %d: %s\nis now: %s" % (kept, number, json.dumps(one), json.dumps(other))


# ---- frames (proto/wire.md)


def frames(path):
    with open(path, "rb") as file:
        data = file.read()
    while data:
        magic, _, _, _, size = struct.unpack_from("<4sBBHI", data)
        assert magic == b"PSCP", data[:16]
        yield data[:16 + size]
        data = data[16 + size:]


def type_of(frame):
    return TYPES[frame[5] - 1]


def types(path, *wanted):
    found = {type_of(frame) for frame in frames(path)}
    for each in wanted:
        if each not in found:
            yield "%s has no %s" % (path, each)


def replay(path, endpoint, *wanted):
    import zmq
    to = zmq.Context().socket(zmq.DEALER)
    to.linger = 0
    to.connect(endpoint)
    for frame in frames(path):
        if type_of(frame) not in wanted:
            continue
        to.send(frame)
        if not to.poll(30000):
            yield "nobody answers the %s of %s" % (type_of(frame), path)
            return
        print(type_of(frame), type_of(to.recv()))


def main():
    wrong = list(globals()[sys.argv[1]](*sys.argv[2:]))
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return bool(wrong)


sys.exit(main())
