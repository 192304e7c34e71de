"""archive_questions - the ten questions of an analyst, asked of an archive by SQL and of
poolscope.

    archive_questions.py load SEED          prints records, for tests/scenario/records.py
    archive_questions.py views URL          makes deploy/clickhouse/views.sql; --merge: for
                                            one server without a cluster
    archive_questions.py compare URL        asks deploy/clickhouse/questions.sql, and
                                            poolscope the same

The questions are of partition acct$pool, on the two days from 2023-11-14 on.  Who asks is in
CLICKHOUSE_USER and CLICKHOUSE_KEY.  Prints a line for each question: its title, "equal" and
the number of rows, or where both answers differ; then the exit status is 1.
SPDX-License-Identifier: MIT
"""
import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = os.path.join(HERE, "../../deploy/clickhouse")
BASE = 1700000000
HOURS = 3


# ---- records

def pulls(pick, node, at):
    """Pulls of images that overlap, with a start and an end that have no other."""
    for number in range(30):
        image = "img%d" % pick.randrange(3)
        begin, took = at + pick.randrange(5000) / 10, pick.randrange(1, 900) / 10
        measured = " diff=%s" % (pick.randrange(1, 900) / 10) if pick.random() < 0.5 else ""
        yield "event %.1f %s cascade:pull-start img=%s" % (begin, node, image)
        if number % 7:
            yield "event %.1f %s cascade:pull-end img=%s%s" % (begin + took, node, image, measured)
    yield "event %.1f %s cascade:pull-end img=img0" % (at - 1, node)
    # Of the same second: two that take no time, and one that begins when another one ends.
    for after, names in enumerate(("start end", "end start", "start", "end start", "end")):
        for name in names.split():
            yield "event %d %s cascade:pull-%s img=tied" % (at + 900 + after, node, name)


def load(seed):
    pick = random.Random(seed)
    print("group n1 cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.nice:cs:counter "
          "system.cpu.time.system:cs:counter system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter "
          "system.cpu.time.interrupt:cs:counter system.cpu.time.softirq:cs:counter system.cpu.time.steal:cs:counter "
          "system.cpu.logical.count:{cpu}:gauge")
    print("group n1 load system.cpu.load_average.1m:{thread}:gauge")
    print("group n1 memory system.memory.usage.used:By:gauge")
    nodes = ["n%d" % n for n in range(1, 6)]
    for node in nodes:
        print("event 0 %s nodeprep:start" % node)
        print("event %d %s nodeprep:end diff=%s" % (pick.randrange(20, 90), node, pick.randrange(200, 900) / 10))
        for line in pulls(pick, node, 100):
            print(line)
        for job in range(4):
            begin = 40 + 2000 * job + pick.randrange(400)
            print("event %d.5 %s job:start job=j%d" % (begin, node, job % 3))
            print("event %d.25 %s job:stop job=j%d" % (begin + pick.randrange(100, 1200), node, job % 3))
        for _ in range(20):
            begin = pick.randrange(9000)
            print("span %d %d.5 %s run/make make exit.status=%d" % (begin, begin + 3, node, pick.randrange(3)))
        print("span 10 20 %s run/make make exit.signal=9" % node)
        print("gap 100 200 %s event full %d" % (node, pick.randrange(1, 99)))
        print("gap 4100 4200 %s sample refused %d" % (node, pick.randrange(1, 99)))
        ticks = [0] * 8
        for at in range(40, HOURS * 3600, 10):
            cores = 400 * 10 // 4
            for place in range(8):
                ticks[place] += pick.randrange(cores // 8)
            print("sample %d %s cpu 7 %s 4" % (at, node, " ".join(map(str, ticks))))
            print("sample %d %s load %s" % (at, node, pick.randrange(800) / 100))
            print("sample %d %s memory %d" % (at, node, pick.randrange(1 << 34)))
    for run in range(60):
        at = 50 + 100 * run
        print("entity n1 run r%d device_group=g%d queue=q requestor=ada" % (run, run % 4))
        print("event %d n1 run:queue_start run=r%d" % (at, run))
        if run % 9:
            print("event %d.125 n1 run:queue_end run=r%d" % (at + pick.randrange(1, 80), run))


# ---- SQL

def ask(url, sql):
    headers = {"X-ClickHouse-User": os.environ["CLICKHOUSE_USER"],
               "X-ClickHouse-Key": os.environ["CLICKHOUSE_KEY"]} if "CLICKHOUSE_USER" in os.environ else {}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, sql.encode(), headers), timeout=300).read().decode()
    except urllib.error.HTTPError as why:
        sys.exit("%s\n%s" % (sql, why.read().decode(errors="replace")))


def statements(file):
    """(title, statement) of each."""
    with open(os.path.join(DEPLOY, file)) as of:
        for part in of.read().split(";\n"):
            title = re.findall(r"^-- ([^:\n]*): poolscope", part, re.M)
            sql = re.sub(r"^--.*\n", "", part, flags=re.M).strip()
            if sql:
                yield title[-1] if title else "", sql


def views(url, is_merge):
    for _, sql in statements("views.sql"):
        if is_merge:
            sql = re.sub(r"ENGINE = Distributed\(poolscope, poolscope, (\w+)\)", r"ENGINE = Merge(poolscope, '^\1$')", sql)
        ask(url, sql)


# ---- poolscope

def poolscope(*words):
    return json.loads(subprocess.run(["poolscope", *words, "-p", "acct$pool", "--format", "json"], check=True,
                                     stdout=subprocess.PIPE).stdout)


def records(kind):
    made = subprocess.run(["poolscope", "dump", "-p", "acct$pool", "--kind", kind, "--format", "jsonl"], check=True,
                          stdout=subprocess.PIPE).stdout
    return [record for record in map(json.loads, made.splitlines()) if record["kind"] == kind]


def counted(keys):
    return [[*key, count] for key, count in collections.Counter(keys).items()]


def lost():
    sums = collections.Counter()
    for gap in records("gap"):
        sums[gap["node"], gap["class"], gap["reason"]] += gap["count"]
    return [[*key, count] for key, count in sums.items()]


def failed():
    return counted((span["node"], span["name"]) for span in records("span")
                   if span["attributes"].get("exit.status", 0) != 0 or "exit.signal" in span["attributes"])


def lag():
    most = {}
    for event in records("event"):
        most[event["node"]] = max(most.get(event["node"], 0), (event["receive_ns"] - event["time_ns"]) / 1e9)
    return [list(each) for each in most.items()]


WINDOW = ("--from", str(BASE - 3600), "--to", str(BASE + (HOURS + 1) * 3600))
ANSWERS = {
    "slowest nodes": lambda: [[r["phase"], r["node"], r["count"], r["sum"], r["max"]] for r in poolscope(
        "stats", "phases", "--by", "node", "--name", "cascade:*", "--start", "all")["rows"] if r["count"]],
    "p99 of pull by image": lambda: [[r["key"], r["count"], r["p99"]] for r in poolscope(
        "stats", "phases", "--by", "key", "--name", "cascade:pull", "--start", "all")["rows"]],
    "CPU hours by job": lambda: [[r["job"], r["cpu_hours_used"]] for r in poolscope("stats", "usage")["all"] if r["job"]],
    "events lost": lost,
    "events an hour": lambda: counted((e["time_ns"] // 3600 // 10 ** 9,) for e in records("event")),
    "median queue by group": lambda: [[r["group"], r["count"], r["p50"]] for r in poolscope(
        "stats", "groups", *WINDOW)["steps"]
        if (r["phase"], r["time"], r["of"]) == ("queue", "event_emit", "per_iteration") and r["count"]],
    "load by minute": lambda: [[r["time"][:19].replace("T", " "), r["node"], r["mean"]] for r in poolscope(
        "stats", "series", "-m", "system.cpu.load_average.1m", "--step", "1m", "--as", "lines", *WINDOW)["rows"]],
    "failed commands": failed,
    "peak memory": lambda: [[r["node"], r["max"]] for r in poolscope(
        "stats", "samples", "--by", "node", "-m", "system.memory.usage.used")["rows"]],
    "lag": lag,
}


def is_equal(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)
    except (TypeError, ValueError):
        return str(a) == str(b)


def compare(url):
    differ = 0
    for title, sql in statements("questions.sql"):
        answer = json.loads(ask(url, sql + "\nFORMAT JSONCompact"))
        columns = [column["name"] for column in answer["meta"]]
        drop = columns.index("begin") if "begin" in columns else len(columns)
        got = sorted(([str(v) if i == 0 else v for i, v in enumerate(row[:drop] + row[drop + 1:])]
                      for row in answer["data"]), key=lambda row: row[:3 - (len(row) < 3)])
        want = sorted([[str(row[0]), *row[1:]] for row in ANSWERS[title]()], key=lambda row: row[:3 - (len(row) < 3)])
        same = len(got) == len(want) > 0 and all(
            len(a) == len(b) and all(map(is_equal, a, b)) for a, b in zip(got, want))
        print("%s: %s" % (title, "equal, %d rows" % len(got) if same else "differs"))
        if not same:
            differ = 1
            print("  %d rows by SQL, %d by poolscope" % (len(got), len(want)))
            for a, b in list(zip(got, want))[:400]:
                if len(a) != len(b) or not all(map(is_equal, a, b)):
                    print("  SQL %s, poolscope %s" % (a, b))
                    break
    return differ


if __name__ == "__main__":
    verb = sys.argv[1]
    if verb == "load":
        load(int(sys.argv[2]))
    elif verb == "views":
        views(sys.argv[2], "--merge" in sys.argv)
    else:
        sys.exit(compare(sys.argv[2]))
