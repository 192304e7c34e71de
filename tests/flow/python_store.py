"""python_store - the cases of 288-python-store.sh: poolscope.store against what the
programs print as JSON, and against a story that is worked out by hand.

    python_store.py CASE [ARGUMENT...]
SPDX-License-Identifier: MIT
"""

import collections
import contextlib
import copy
import gc
import importlib.util
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
import xml.etree.ElementTree
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from html.parser import HTMLParser

import poolscope
from poolscope import Incomplete, Store, StoreError

POOL = "acct$pool"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
BASE = datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
TMP = os.environ["TMP"]


def at(seconds):
    return BASE + timedelta(seconds=seconds)


def equal(got, wanted):
    """Also of the same types: 1, 1.0 and True differ."""
    assert repr(got) == repr(wanted), "%r\nnot %r" % (got, wanted)


def fails(sentence, call, kind=StoreError):
    """The call raises, and what it says, in one line, matches."""
    try:
        call()
    except kind as error:
        said = str(error)
        assert type(error) is kind, type(error)
        assert re.search(sentence, said), "%r, not %r" % (said, sentence)
        assert "\n" not in said, said
        return error
    raise AssertionError("it did not fail: %s" % sentence)


def children():
    """The processes that we started and that are there, also as zombies."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % name) as file:
            if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def files():
    return len(os.listdir("/proc/self/fd"))


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def program(name, script):
    """A program of this name, in front of the others; `script` is its Python.  --help is
    that of the one behind it."""
    real = shutil.which(name, path=os.environ["PATH"].replace(os.path.join(TMP, "programs") + ":", ""))
    folder = os.path.join(TMP, "programs")
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    with open(path, "w") as file:
        file.write("#!/usr/bin/python3\nimport os, sys\n")
        file.write("if '--help' in sys.argv: os.execv(%r, sys.argv)\n%s" % (real, script))
    os.chmod(path, 0o755)
    if not os.environ["PATH"].startswith(folder):
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


# ---- the oracle: rows from lines of JSON, by the types of the columns


def nanoseconds(text):
    """Of the text of a time."""
    found = re.fullmatch(r"(\S+?)(?:\.(\d+))?Z", text)
    whole = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return int(whole.timestamp()) * 10**9 + int((found[2] or "").ljust(9, "0"))


def wanted_cell(column, value):
    if value is None:
        return None
    if isinstance(value, dict):
        value = float(value["$float"])
    if column.type == "time":
        return nanoseconds(value)
    if column.type == "duration":
        return int(Decimal(value) * 10**9)
    if column.type == "float64":
        return float(value)
    if column.type == "text" and not isinstance(value, str):
        return {True: "true", False: "false"}.get(value, str(value))
    return value


def asked(*command):
    """The rows of the first table, head and end; None and the sentence of a failure."""
    done = subprocess.run([*command, "--format", "jsonl"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().split("\n")[-1].partition(": ")[2], None
    lines = [json.loads(line, parse_float=Decimal) for line in done.stdout.splitlines()]
    return [line for line in lines[1:-1] if "table" not in line], lines[0]["poolscope"], lines[-1]["poolscope"]


def compare(table, rows):
    got, short = table.rows(ns=True), table.rows()
    equal(got, [{c.name: wanted_cell(c, row[c.name]) for c in table.schema} for row in rows])
    equal(len(short), len(got))
    for exact, row in zip(got, short):
        for column in table.schema:
            whole, value = exact[column.name], row[column.name]
            if whole is not None and column.type == "time":
                assert value.tzinfo is timezone.utc
                whole, value = whole // 1000, (value - EPOCH) // timedelta(microseconds=1)
            elif whole is not None and column.type == "duration":
                whole, value = whole // 1000, value // timedelta(microseconds=1)
            equal(value, whole)


# ---- cases


def by_hand():
    st = Store()
    table = st.phases(POOL, by="node")
    rows = table.rows()
    equal(
        [(r["phase"], r["node"], r["count"], r["open"], r["required"]) for r in rows],
        [("work:step", "n1", 1, 0, False), ("work:step", "n2", 0, 1, False)],
    )
    assert abs(rows[0]["sum"] - 60.123456789) < 1e-9
    equal([rows[1][name] for name in ("sum", "min", "p50")], [0.0, None, None])
    equal([table.head["partition"], table.head["question"]], [POOL, "phases"])
    equal(table.units["sum"], "s")
    equal([note["count"] for note in table.notes if note["key"] == "lost"], [4])
    assert table.complete is True
    equal(table.count(), 2)
    equal([r["node"] for batch in table for r in batch.rows()], ["n1", "n2"])

    events = st.events(POOL).rows()
    equal(
        [(e["time"], e["node"], e["source"], e["name"], e["attributes"]) for e in events],
        [
            (at(100), "n1", "work", "start", {}),
            (at(160.123456), "n1", "work", "end", {"a": 1, "b": "x", "c": 1.5}),
            (at(130), "n2", "work", "start", {}),
        ],
    )
    equal(st.events(POOL, "work:end").rows(ns=True)[0]["time"], 1700000160123456789)
    samples = st.samples(POOL, node="n1").rows()
    equal(
        [(s["time"], s["metric"], s["unit"], s["value"]) for s in samples],
        [
            (at(10), "temperature", "Cel", 21.5),
            (at(10), "bytes", "By", 100.0),
            (at(20), "temperature", "Cel", None),
            (at(20), "bytes", "By", 300.0),
        ],
    )
    (span,) = st.spans(POOL).rows(ns=True)
    equal(
        [span[name] for name in ("time", "end", "source", "name", "attributes")],
        [1700000001000000000, 1700000005000000001, "train", "step", {"exit": 2}],
    )
    (entity,) = st.entities(POOL, "image:*").rows()
    equal([entity[name] for name in ("source", "name", "attributes")], ["image", "ubuntu", {"size": 5}])
    (gap,) = st.gaps(POOL).rows()
    equal([gap[name] for name in ("time", "end", "count")], [at(5), at(6), 4])
    phases = st.records("phase", POOL).rows()
    equal(
        [(p["node"], p["duration"], p["end"]) for p in phases],
        [("n1", timedelta(seconds=60, microseconds=123456), at(160.123456)), ("n2", None, None)],
    )
    usual = st.stats.samples(POOL, metric="temperature")
    equal([r["metric"] for r in usual.rows()], ["temperature"])
    pools = {r["partition"]: r["records"] for r in st.pools().rows()}
    equal(pools["-x$-y"], 15)
    # The default partition is that of the environment.
    equal(st.events().rows(), events)


def listed(name):
    """The words that --help lists."""
    shown = printed(name, "--help").decode()
    words = re.search(r"WHAT is one\s+of\n\n(.*?)\n\n", shown, re.S)[1]
    return re.findall(r"^  ([a-z]\S*)", words, re.M)


def words():
    st = Store()
    for name, questions in ("poolscope-stats", st.stats), ("poolscope-results", st.results):
        wanted = listed(name)
        assert len(wanted) > 5
        equal(sorted(dir(questions)), sorted(wanted))
        for word in wanted:
            question = getattr(questions, word)
            assert word in repr(question)
            assert question.__doc__.startswith("usage: %s %s" % (name, word)), question.__doc__
            if questions is st.stats:
                assert word in dir(st)
                assert word in ("samples", "spans") or repr(getattr(st, word)) == repr(question)
    fails("stats has no question phase$", lambda: st.phase, AttributeError)
    fails("results has no question runs$", lambda: st.results.runs, AttributeError)
    # Every kind has a method, but phases and runs, whose name is that of a question.
    said = subprocess.run(["poolscope-dump", "--kind=?"], capture_output=True, text=True).stderr
    kinds = re.search(r"is not one of ([a-z, ]+)", said)[1].strip().split(", ")
    program("poolscope-dump", "sys.exit(' '.join(sys.argv))")
    plural = {"entity": "entities", "rejected": "rejected"}
    for kind in set(kinds) - {"phase", "run"}:
        fails("--kind=%s --name=x --node=n --$" % kind, lambda: getattr(st, plural.get(kind, kind + "s"))("a$b", "x", node="n"))


def copied():
    st = Store(clock="raw")
    for other in copy.copy(st), copy.deepcopy(st), pickle.loads(pickle.dumps(st)):
        equal(other.events(POOL).rows(), st.events(POOL).rows())


def questions(pool=POOL):
    st = Store()
    answered = 0
    for word in listed("poolscope-stats"):
        if word == "metrics":
            continue  # OpenMetrics
        options = {"phases": {"by": "node"}, "series": {"metric": "*", "since": "2023-11-14"}}.get(word, {})
        given = ["--%s=%s" % ({"since": "from"}.get(k, k), v) for k, v in options.items()]
        rows, head, end = asked("poolscope-stats", word, "-p", pool, *given)
        if rows is None:
            equal(str(fails(".", lambda: getattr(st.stats, word)(pool, **options))), head)
            continue
        table = getattr(st.stats, word)(pool, **options)
        answered += 1
        if word in ("nodes", "clocks", "pools", "status"):  # of now
            equal([list(row) for row in table.rows()], [list(row) for row in rows])
            continue
        compare(table, rows)
        equal(table.head, json.loads(json.dumps(head, default=float)))
        equal([table.notes, table.complete, table.count()], [end["notes"], end["complete"], end["rows"]])
    assert answered >= 8, answered
    compare(st.results.tests(pool), asked("poolscope-results", "tests", "-p", pool)[0])
    assert POOL in [row["partition"] for row in st.ask("partitions", "list").rows()]


def kinds():
    names = {
        "event": {"key": "uuid"},
        "span": {"time": "begin", "source": "track", "key": "category"},
        "gap": {"time": "from", "end": "to", "source": "class", "name": "reason"},
        "entity": {"source": "entity", "name": "id", "attributes": "properties"},
        "phase": {"time": "begin", "source": "model", "name": "phase"},
    }
    st = Store()
    for kind, of in names.items():
        lines = printed("poolscope-dump", "-p", POOL, "--kind", kind).decode().splitlines()
        assert lines
        table = st.records(kind, POOL)
        wanted = []
        for record in map(json.loads, lines):
            row = {}
            for column in table.schema:
                name = {"received": "receive"}.get(column.name, of.get(column.name, column.name))
                value = record[name + ("_ns" if column.type in ("time", "duration") else "")]
                row[column.name] = None if value == "" else value
            wanted.append(row)
        equal(table.rows(ns=True), wanted)
    equal(st.rejected(POOL).count(), 0)


def keywords():
    from poolscope.store import options_of

    local = datetime(2026, 1, 2, 3, 4, 5, 678901)
    given = {
        "by": "node",
        "since": "-1h",
        "until": local.replace(tzinfo=timezone.utc),
        "strict": True,
        "png": False,
        "metric": ["a", "b"],
        "cpu_count": 3,
        "as_": "bands",
        "step": timedelta(minutes=1),
        "top": None,
        "name": "",
        "limit": 0,
        "gap": 1.5,
    }
    wanted = "--by=node --from=-1h --to=2026-01-02T03:04:05.678901+00:00 --strict --no-png --metric=a --metric=b"
    wanted += " --cpu-count=3 --as=bands --step=60000000us --name= --limit=0 --gap=1.5"
    equal(options_of(given), wanted.split(" "))
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    equal(options_of({"since": local}), ["--from=2026-01-02T03:04:05.678901+09:00"])
    fails("since: a text, a number or a time, not dict", lambda: options_of({"since": {}}), TypeError)
    st = Store()
    berlin = timezone(timedelta(hours=1))
    equal(st.events(POOL, since=at(100.000001).astimezone(berlin), until=at(131)).count(), 1)
    equal(st.events(POOL, since=1700000100, until="2023-11-14T22:15:30Z").count(), 1)
    equal(st.events(POOL, node=["n1", "n2"], name="work:start").count(), 2)
    equal([r["node"] for r in st.phases(POOL, by="node", sort="sum", top=1).rows()], ["n1"])
    equal(list(st.phases(POOL, columns="node,count", by="node").rows()[0]), ["node", "count"])
    options = {"metric": "temperature", "since": at(0), "until": at(60), "step": timedelta(seconds=30)}
    words = "-m temperature --from 1700000000 --to 1700000060 --step 30s".split(" ")
    compare(st.series(POOL, **options), asked("poolscope-stats", "series", "-p", POOL, *words)[0])


def hostile():
    pool = "-x$-y"
    st = Store()
    events = st.events(pool).rows()
    equal([(e["node"], e["source"], e["name"]) for e in events[:1]], [("--node", "-n", "--x")])
    equal([st.events(pool, "-n:--x").count(), st.events(pool, node="--node").count()], [1, 1])
    equal([events[2][k] for k in ("node", "source", "name", "attributes")], ["wörld", "a", "日本", {"größe": 1}])
    for name in ("--help", "-p", "a$b\n--help", "$", "'", '"; touch x', "a$b/c", "x" * 5000, "ü$ü", "a$\ud800"):
        with contextlib.suppress(StoreError):
            equal([name, st.events(name, since=0).rows()], [name, []])
    fails("null byte", lambda: st.events("a$b\0c"))
    fails("unknown option --no-such-option", lambda: st.phases(POOL, no_such_option=1))
    fails("no results of test '--help'", lambda: st.results.timings(POOL, "--help", "-x"))
    fails("prints records of one kind", lambda: st.records("event,span", POOL))

    labels = {s["group"]: s["labels"] for s in st.samples(pool, "g*").rows()}
    equal(labels, {**dict.fromkeys(["g0", "g1", "g2", "g3", "g4"]), "g5": {"rank": "3"}})

    class Tags(HTMLParser):
        seen = collections.Counter()

        def handle_starttag(self, tag, attrs):
            self.seen[tag] += 1

    Tags().feed(st.events(pool)._repr_html_())
    assert set(Tags.seen) <= {"caption", "table", "tbody", "td", "th", "thead", "tr"}, Tags.seen
    equal(Tags.seen["tr"], 4)


def many():
    st = Store()
    table = st.samples("acct$many")
    sizes = []
    seen = set()
    for batch in table:
        sizes.append(len(batch))
        for row in batch.rows():
            t, i = (row["time"] - BASE).seconds, int(row["metric"][1:])
            wanted = {"time": at(t), "node": "n%d" % (t // 1000), "group": "room", "labels": None}
            wanted.update(metric="m%d" % i, unit="1", value=float(t * i))
            assert row == wanted, row
            seen.add((t, i))
    equal([len(seen), sum(sizes)], [200000, 200000])
    assert len(sizes) > 2, sizes
    fails("read before", table.rows)
    fails("read before", lambda: next(iter(table)))
    assert table.complete is True
    whole = st.samples("acct$many")
    equal(whole.count(), 200000)
    equal(max(row["value"] for row in whole.rows()), 3999.0 * 49)
    equal(sum(len(b) for b in whole), 200000)
    equal(children(), [])
    # Batches are not kept, nor what was freed.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    script = """import re, sys
from poolscope import Store
for batch in Store().samples("acct$many", until=float(sys.argv[1])):
    pass
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])"""
    few, all_ = (int(printed(sys.executable, "-c", script, str(1700000000 + t))) for t in (2700, 4000))
    assert all_ < few + 1000, "%d KiB for 135,000 rows, %d for 200,000" % (few, all_)


def shown():
    st = Store()
    html = st.samples("acct$many", until=at(1))._repr_html_()
    equal(html.count("<tr>"), 21)
    assert "<p>30 more rows</p>" in html and "<th>unit</th>" in html and "<td>m19</td>" in html, html
    table = st.phases(POOL, by="node")
    html = table._repr_html_()
    equal(html.count("<tr>"), 3)
    assert "more row" not in html and "<th>sum (s)</th>" in html and "4 records of this time were lost" in html, html
    assert "<td>-</td>" in html and "<td>60.1235</td>" in html and "<caption>phases of" in html, html
    assert "lacking" not in html
    equal(table._repr_html_(), html)
    equal(table.count(), 2)
    assert "<p>1 more row</p>" in st.samples("acct$many", until=at(1), top=21)._repr_html_()
    assert "phases" in repr(table)
    # What a notebook looks for and is not there.
    equal([name for name in ("_repr_html_", "_repr_svg_", "_ipython_display_") if hasattr(st, name)], [])


def texts(svg):
    return {text.strip() for text in xml.etree.ElementTree.fromstring(svg).itertext()}


def timeline():
    st = Store()
    table = st.timeline(POOL)
    equal([table.rows()[0][name] for name in ("node", "begin", "phase")], ["n1", at(100), "work:step"])
    assert {"n1", "step", "open: no end"} <= texts(table._repr_svg_()), texts(table._repr_svg_())
    of_n2 = texts(st.timeline(POOL, node="n2").svg())
    assert any("1 node did when" in text for text in of_n2), of_n2
    small = table.svg(size="500x300", title="<&>")
    equal(xml.etree.ElementTree.fromstring(small).get("width"), "500")
    assert "<&>" in "".join(texts(small)), texts(small)
    # Whose options the picture does not know is shown as a table.
    lanes = st.timeline(POOL, lanes=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        equal(lanes._repr_svg_(), None)
    assert "--lanes" in str(told[0].message), told
    assert "<table>" in lanes._repr_html_()
    fails("--lanes", lanes.svg)
    equal([name for name in os.listdir(TMP) if name.startswith("poolscope.")], [])


def missing():
    nowhere = os.path.join(TMP, "nowhere")
    fails("no store in .*nowhere.* and no aggregator", lambda: Store(nowhere).events(POOL))
    error = fails("there is no such partition", lambda: Store().phases("acct$nix"))
    equal([error.status, fails("unknown option", lambda: Store().phases(POOL, nix=1)).status], [1, 2])
    fails("is not one of", lambda: Store().phases(POOL, columns="nix"))
    for module, method in ("pyarrow", "arrow"), ("pandas", "pandas"), ("polars", "polars"), ("numpy", "numpy"):
        sys.modules[module] = None  # as if it were not installed
        sentence = r"^Table.%s\(\) needs the package %s, which is not installed: pip install %s$" % (method, module, module)
        fails(sentence, getattr(Store().events(POOL), method), ImportError)
    path = os.environ["PATH"]
    os.environ["PATH"] = "/nowhere"
    fails("poolscope-dump is not installed here", lambda: Store().events(POOL))
    os.environ["PATH"] = path
    equal(children(), [])
    # An answer without rows is an answer.
    table = Store().events(POOL, "no:no")
    equal([table.rows(), table.count(), table.complete], [[], 0, True])
    assert "no matching records" in table.notes[0]["text"], table.notes
    equal([c.name for c in table.schema][:4], ["time", "node", "source", "name"])
    fails("has no attribute 'nix'", lambda: poolscope.nix, AttributeError)
    script = "import poolscope, sys; print('poolscope.store' in sys.modules)"
    equal(printed(sys.executable, "-c", script), b"False\n")


def killed():
    for read in (lambda t: [len(b) for b in t]), (lambda t: t.rows()):
        table = Store().samples("acct$many")
        os.kill(table._source.process.pid, signal.SIGKILL)
        fails("^poolscope-dump was ended by signal 9$", lambda: read(table))
        equal(children(), [])
        fails("closed|read before", lambda: read(table))


def unread():
    st = Store()
    before = files()
    for batch in st.samples("acct$many"):
        break
    del batch
    gc.collect()
    equal(children(), [])
    table = st.samples("acct$many")
    equal(len(children()), 1)
    del table
    equal(children(), [])
    with st.samples("acct$many") as table:
        batches = iter(table)
        next(batches)
    equal(children(), [])
    fails("closed before it was read", lambda: list(batches))
    table.close()
    with st.samples("acct$many") as table:
        pass
    fails("closed before it was read", table.rows)
    kept = st.events(POOL)
    kept.rows()
    kept.close()
    equal(len(kept.rows()), 3)
    for _ in range(50):
        st.events(POOL)
        fails("such partition", lambda: st.phases("acct$nix"))
    gc.collect()
    equal(files(), before)
    # Those that nobody closed do not outlive us.
    script = "from poolscope import Store\nt = Store().samples('acct$many')\nprint(t._source.process.pid)"
    assert not os.path.exists("/proc/%d" % int(printed(sys.executable, "-c", script)))


def loud():
    answer = printed("poolscope-stats", "phases", "-p", POOL, "--by", "node", "--format", "arrow")
    script = """for i in range(100000):
    os.write(2, b"warn poolscope-stats: %%d is a sentence that makes it long\\n" %% i)
os.write(1, %r)
"""
    program("poolscope-stats", script % answer)
    table = Store().phases(POOL)
    equal([row["node"] for row in table.rows()[:2]], ["n1", "n2"])
    equal([len(table.notes) >= 100000, table.notes[-1]["text"][:8]], [True, "99999 is"])
    program("poolscope-stats", "os.write(2, b'x' * 3000000 + b'\\npoolscope-stats: it is broken\\n')\nsys.exit(1)")
    fails("^it is broken$", lambda: Store().phases(POOL))


def incomplete():
    answer = printed("poolscope-stats", "phases", "-p", POOL, "--by", "node", "--format", "arrow")
    script = """os.write(1, %r)
os.write(2, b"warn poolscope-stats: a remark\\n2026-11-25T23:02:53.042+00:00 warn poolscope-stats: of 12:00\\n")
os.write(2, b"info poolscope-stats: no note\\npoolscope-stats: 3 rows of the store were left out\\n")
sys.exit(1)"""
    program("poolscope-stats", script % answer)
    for read in (lambda t: t.rows()), (lambda t: [r for b in t for r in b.rows()]):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            table = Store().phases(POOL)
            equal([row["node"] for row in read(table)[:2]], ["n1", "n2"])
        equal([(w.category, str(w.message)) for w in told], [(Incomplete, "3 rows of the store were left out")])
        assert table.complete is False
        equal([n["text"] for n in table.notes if n["key"] is None], ["a remark", "of 12:00"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "lacking" in Store().phases(POOL)._repr_html_()
    fails("3 rows of the store", lambda: Store().phases(POOL).rows(), Incomplete)


def cut():
    answer = printed("poolscope-dump", "-p", POOL, "--kind", "event", "--format", "arrow")
    path = os.path.join(TMP, "stream")
    program("poolscope-dump", "sys.stdout.buffer.write(open(%r, 'rb').read())" % path)
    size = len(answer)
    for place in sorted({*range(20), *range(20, size, 97), *range(size - 20, size)}):
        with open(path, "wb") as file:
            file.write(answer[:place])
        read = (lambda: Store().events(POOL).rows()) if place % 2 else (lambda: [len(b) for b in Store().events(POOL)])
        fails("^poolscope-dump: ", read)
    for garbage in b"time,node\n1,2\n" * 9, b"\xff" * 64, b"\0" * 64:
        with open(path, "wb") as file:
            file.write(garbage)
        fails("^poolscope-dump: ", lambda: Store().events(POOL).rows())
    equal(children(), [])


def forked():
    table = Store().samples("acct$many")
    child = os.fork()
    if child == 0:
        del table
        gc.collect()
        sys.exit(0)  # with all handlers of the exit
    equal(os.waitpid(child, 0)[1], 0)
    equal(table.count(), 200000)


def places(folder, tcp, key):
    here = Store(folder).events(POOL).rows()
    equal(len(here), 3)
    endpoint = "ipc://%s/run/reader.ipc" % folder
    for where in os.path.join(folder, "store"), endpoint, [endpoint]:
        equal(Store(where).events(POOL).rows(), here)
    equal(Store(tcp, key=key).events(POOL).rows(), here)
    fails("key", lambda: Store(tcp).events(POOL))
    fails("no-such.key", lambda: Store("tcp://127.0.0.1:1", key="/no-such.key").events(POOL))
    fails("unknown option --kee", lambda: Store(folder, kee="x").events(POOL))
    equal(Store(folder, clock="corrected").events(POOL).rows()[0]["clock"], "raw")


def page():
    """Each block of the page that reads a store; frames where there is pandas."""
    with open(os.path.join(os.environ["ROOT"], "agents/python/poolscope-python.7")) as file:
        blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", file.read(), re.M | re.S)
    os.chdir(TMP)
    ran = 0
    for block in blocks:
        is_run = "Store" in block and ("pandas()" not in block or importlib.util.find_spec("pandas"))
        if is_run:
            done = subprocess.run([sys.executable, "-W", "error", "-c", block], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, block + done.stderr
            ran += 1
    assert ran >= 4, ran


# ---- following


def emit(numbers):
    os.environ.pop("POOLSCOPE_PARTITION", None)  # that of the agent
    lines = "".join("follow event %d\n" % n for n in numbers)
    command = ["poolscope-emit", "--stdin", "--wait", "stored", "-q"]
    subprocess.run(command, check=True, text=True, input=lines, stdout=subprocess.DEVNULL)


def message(record):
    return int(record["attributes"]["message"])


def follow(pool):
    cursor = os.path.join(TMP, "cursor")
    emit(range(1, 6))
    with Store().follow(pool, cursor=cursor, kind="event") as follower:
        first = next(follower)
        equal([first[k] for k in ("kind", "source", "name", "attributes")], ["event", "follow", "event", {"message": "1"}])
        assert timedelta() < datetime.now(timezone.utc) - first["time"] < timedelta(hours=1)
        equal([name for name in first if name.endswith("_ns")], [])
        equal([message(next(follower)) for _ in range(4)], [2, 3, 4, 5])
        # Nobody asked for the one behind 5: so it may not have been worked on.
        assert not os.path.exists(cursor)
        emit([6])
        equal(message(next(follower)), 6)
        assert os.path.exists(cursor)
        # Who asks and waits has worked on all.
        waiting = threading.Thread(target=lambda: fails("closed|signal 9", lambda: next(follower)))
        before = printed("cat", cursor)
        waiting.start()
        assert until(lambda: printed("cat", cursor) != before)
        follower._program.process.kill()
        waiting.join()
    equal(children(), [])
    del follower
    emit([7])
    with Store().follow(pool, cursor=cursor, kind="event") as follower:
        equal(message(next(follower)), 7)
    del follower
    equal([name for name in os.listdir(TMP) if name.startswith("poolscope.")], [])
    with open(cursor, "w") as file:
        file.write("1 x")
    with Store().follow(pool, cursor=cursor) as follower:
        fails("^%s: is not a journal position" % re.escape(cursor), lambda: next(follower))
    os.remove(cursor)
    with Store().follow(pool, corsor="x") as follower:
        equal(fails("unknown option --corsor", lambda: next(follower)).status, 2)
    follower = Store().follow(pool)
    equal(len(children()), 1)
    del follower
    equal(children(), [])


WORKER = """import sys
from poolscope import Store
with open(sys.argv[3], "a", buffering=1) as done:
    for record in Store().follow(sys.argv[1], cursor=sys.argv[2], kind="event", name="follow:event"):
        done.write(record["attributes"]["message"] + "\\n")
"""


def followers():
    lines = printed("ps", "-eo", "args").decode().splitlines()
    return [line for line in lines if line.startswith("poolscope-dump") and TMP in line]


def follow_killed(pool):
    """The worker writes each number when it has worked on the record."""
    cursor, done = (os.path.join(TMP, name) for name in ("cursor2", "done"))
    rounds, each = 12, 40

    def numbers():
        with contextlib.suppress(FileNotFoundError), open(done) as file:
            return [int(line) for line in file if line.endswith("\n")]
        return []

    for number in range(rounds):
        worker = subprocess.Popen([sys.executable, "-c", WORKER, pool, cursor, done])
        first = 100 + each * number
        emit(range(first, first + each))
        if number % 2:
            until(lambda: first + each - 1 in numbers())
        else:
            time.sleep(0.02 * number)
        worker.kill()
        worker.wait()
    got = [n for n in numbers() if n >= 100]
    equal(list(dict.fromkeys(got)), list(range(100, 100 + rounds * each)))
    assert until(lambda: not followers()), followers()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
