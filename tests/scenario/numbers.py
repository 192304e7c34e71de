"""numbers - the table of 460-every-number.sh: what each number is, and every way that shows it.

    PORT=5580 TOKEN=T BASE=SECONDS numbers.py DIR

Prints a line for each way that shows another number, and exits with 1 if there is one.
The numbers are worked out in the story; nothing here is taken from a program.
SPDX-License-Identifier: MIT
"""
import csv
import datetime
import http.client
import io
import json
import os
import subprocess
import sys
import urllib.parse

JUDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow", "report_judge.py")
DIR, BASE, POOL = sys.argv[1], int(os.environ["BASE"]), os.environ["POOLSCOPE_PARTITION"]


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def stats(*words):
    return lambda: json.loads(run("poolscope-stats", *words, "--format", "json"))


def from_csv(*words):
    return lambda: list(csv.DictReader(io.StringIO(run("poolscope-stats", *words, "--format", "csv"))))


def from_jsonl(*words):
    return lambda: [json.loads(line) for line in run("poolscope-stats", *words, "--format", "jsonl").splitlines()]


def page(route):
    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=60)
        connection.request("GET", "/v1/pools/%s/%s" % (urllib.parse.quote(POOL), route),
                           headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        return json.loads(answer.read())
    return ask


def report(path):
    return lambda: json.loads(run("/usr/bin/python3", JUDGE, "answer", DIR + "/report.html", path))


def data(what, *words):
    """The table of a picture: its columns by name."""
    def draw():
        run("poolscope-plot", what, "--no-png", "-q", "-o", DIR + "/drawn", *words)
        of = words[words.index("--view") + 1] if "--view" in words else what
        name = [each for each in os.listdir(DIR + "/drawn") if of in each and each.endswith(".dat")][0]
        lines = [line.split() for line in open(DIR + "/drawn/" + name)]
        return [dict(zip(lines[0], line)) for line in lines[1:]]
    return draw


def table(*words):
    """A table of the terminal, by the heads of its columns."""
    def show():
        lines = [line.split() for line in run(*words).splitlines()]
        head = next(at for at, line in enumerate(lines) if line[:1] and line[0].isupper())
        return [dict(zip(lines[head], line)) for line in lines[head + 1:] if len(line) >= 2]
    return show


def metric(name, **labels):
    def read():
        for line in run("poolscope-stats", "metrics", "-p", POOL, "--metrics", "nodes").splitlines():
            if line.startswith(name + "{") and all('%s="%s"' % each in line for each in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        raise KeyError(name)
    return read


def pick(ask, **of):
    """The row that has these values, out of whatever holds the rows."""
    def rows(value):
        if isinstance(value, dict) and all(str(value.get(name)) == str(wanted) for name, wanted in of.items()):
            yield value
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from rows(each)
    return lambda name: (lambda: next(rows(ask()))[name])


def seconds(ask):
    """Of a date and time: since BASE."""
    return lambda: datetime.datetime.fromisoformat(ask().replace("Z", "+00:00")).timestamp() - BASE


def calls(ask, work):
    return lambda: work(ask())


STEP = {"phase": "work:step"}
SINCE = ("--from", str(BASE))
PHASES = {
    "stats json": pick(stats("phases"), **STEP), "stats csv": pick(from_csv("phases"), **STEP),
    "stats jsonl": pick(from_jsonl("phases"), **STEP), "stats --from": pick(stats("phases", *SINCE), **STEP),
    "stats --from csv": pick(from_csv("phases", *SINCE), **STEP), "page": pick(page("phases"), **STEP),
    "page from": pick(page("phases?from=%d" % BASE), **STEP), "report": pick(report("pools/%s/phases" % POOL), **STEP),
}
TABLE = pick(table("poolscope-stats", "phases"), PHASE="work:step")
OF_DUMP = [json.loads(line) for line in run("poolscope-dump", "--kind", "phase", "--name", "work:step").splitlines()]
DURATIONS = [each["duration_ns"] / 1e9 for each in OF_DUMP if each["duration_ns"] is not None]


def phase(name, head=None, **more):
    ways = {way: of(name) for way, of in PHASES.items()}
    if head:
        ways["stats table"] = TABLE(head)
    return ways | more


def usage(node):
    return {"stats json": pick(stats("usage"), node=node), "stats csv": pick(from_csv("usage"), node=node),
            "stats --from": pick(stats("usage", *SINCE), node=node), "page": pick(page("usage"), node=node),
            "report": pick(report("pools/%s/usage" % POOL), node=node)}


def busy(node):
    def share(of):
        return lambda: float(of("cpu_hours_used")()) / (float(of("cpu_hours_used")()) + float(of("cpu_hours_unused")()))
    ways = {way: share(of) for way, of in usage(node).items()}
    drawn = pick(data("usage"), Node=node)
    # Six digits after the point.
    ways["plot"] = lambda: round(float(drawn("Used")()) / (float(drawn("Used")()) + float(drawn("Unused")())), 4)
    ways["metrics"] = metric("system_cpu_utilization_ratio", node=node)
    return ways


def memory(node):
    used = {"group": "memory", "metric": "system.memory.usage.used", "node": node}
    return {way: of("memory_peak_bytes") for way, of in usage(node).items()} | {
        "metrics": metric("system_memory_usage_bytes", node=node),
        "samples json": pick(stats("samples", "--by", "node"), **used)("last"),
        "samples csv": pick(from_csv("samples", "--by", "node"), **used)("last")}


def network(node):
    """Bytes a second, of the interfaces that no other one carries."""
    def rates(rows):
        return sum(float(row["mean"]) for row in rows if row["metric"] == "system.network.io.receive" and
                   row["node"] == node and row["group"] in ("network/eth0", "network/eth1"))
    return {way: calls(of("network_received_bytes"), lambda bytes_: float(bytes_) / 240) for way, of in usage(node).items()} | {
        "samples csv": calls(from_csv("samples", "--by", "node"), rates)}


START = {"state": "ready", "nodes": 2}
STARTS = {"stats": pick(stats("starts", "--model", "work"), **START), "page": pick(page("starts?model=work"), **START),
          "stats --from": pick(stats("starts", "--model", "work", *SINCE), **START)}
RUNS = {"stats": stats("runs"), "stats --from": stats("runs", *SINCE), "page": page("runs"),
        "report": report("pools/%s/runs" % POOL)}
NUMBERS = [
    ("count of a phase", 4, phase("count", "COUNT", metrics=metric("poolscope_phase_duration_seconds_count", phase="work:step"),
                                  dump=lambda: len(DURATIONS))),
    ("sum of a phase", 53, phase("sum", metrics=metric("poolscope_phase_duration_seconds_sum", phase="work:step"),
                                 dump=lambda: sum(DURATIONS),
                                 plot=calls(data("phases", "--view", "breakdown", "--model", "work"), lambda rows: sum(float(row["step"]) for row in rows)),
                                 timeline=calls(stats("timeline", "--lanes", "--model", "work"), lambda of: sum(row["duration"] for row in of["rows"] if not row["open"])),
                                 page_timeline=calls(page("timeline?lanes=true&model=work"), lambda of: sum(row["duration"] for row in of["rows"] if not row["open"])),
                                 breakdown=calls(stats("breakdown", "--model", "work"), lambda of: of["bands"][0]["seconds"]),
                                 page_breakdown=calls(page("breakdown?model=work"), lambda of: sum(row["work:step"] for row in of["rows"])))),
    ("shortest", 5, phase("min", "MIN", dump=lambda: min(DURATIONS))),
    ("longest", 30, phase("max", "MAX", dump=lambda: max(DURATIONS))),
    ("mean of a phase", 13.25, phase("mean", "MEAN")),
    ("median of a phase", 8, {way: calls(of, lambda got: 8 if 7.92 <= float(got) <= 8.08 else got)  # within 1 %
                              for way, of in phase("p50", "P50").items()}),
    ("begun and not ended", 1, phase("open", "OPEN", metrics=metric("poolscope_phase_open", phase="work:step", unmatched="start"),
                                     dump=lambda: len(OF_DUMP) - len(DURATIONS))),
    ("nodes", 2, {"metrics": metric("poolscope_pool_nodes_known"), "nodes": calls(stats("nodes"), lambda of: len(
        [row for row in of["rows"] if row["node"] in ("n1", "n2")])), "pools": pick(stats("pools"), partition=POOL)("nodes"),
        "breakdown": calls(stats("breakdown", "--model", "work"), lambda of: of["nodes"]),
        "top": pick(table("poolscope-top", "--once"), PARTITION=POOL)("NODES"),
        "status": pick(lambda: json.loads(run("poolscope-stats", "status", "--format", "json")), partition=POOL)("nodes"),
        "report": pick(report("pools"), partition=POOL)("nodes")}),
    ("events", 14, {"metrics": metric("poolscope_records", kind="event"), "pools": pick(stats("pools"), partition=POOL)("events"),
                    "pools csv": pick(from_csv("pools"), partition=POOL)("events"),
                    "top": pick(lambda: json.loads(run("poolscope-top", "--once", "--format", "json")), partition=POOL)("events"),
                    "dump": lambda: len(run("poolscope-dump", "--kind", "event").splitlines())}),
    ("begin of a start", 10, {way: seconds(of("start")) for way, of in STARTS.items()}),
    ("last node ready", 32, {way: of("last_ready") for way, of in STARTS.items()} | {
        "table": pick(table("poolscope-stats", "starts", "--model", "work"), STATE="ready")("LAST")}),
    ("begun again", 3, {way: of("again") for way, of in STARTS.items()}),
    ("last node begun", 90, {way: of("last_begin") for way, of in STARTS.items()}),
    ("nodes ready", 2, {way: of("ready") for way, of in STARTS.items()}),
    ("runs", 3, {way: calls(ask, lambda of: len(of["rows"])) for way, ask in RUNS.items()} | {
        "metrics": lambda: sum(metric("poolscope_runs", model="testrun", state=state)()
                               for state in ("queued", "ongoing", "finished", "error"))}),
    ("a run's flash", 12.5, {way: calls(ask, lambda of: next(row for row in of["rows"] if row["run"] == "r1")["step.flash"])
                             for way, ask in RUNS.items()}),
]
for NODE, SHARE in ("n1", 0.25), ("n2", 0.75):
    NUMBERS += [("share of the processors of " + NODE, SHARE, busy(NODE)), ("memory of " + NODE, 3 << 30, memory(NODE)),
                ("network of " + NODE, 1500, network(NODE))]
wrong = asked = 0
for what, wanted, ways in NUMBERS:
    for way, ask in ways.items():
        asked += 1
        try:
            got = ask()
            good = abs(float(got) - wanted) <= 1e-6 * abs(wanted)
        except Exception as error:  # the other ways are asked, too
            got, good = repr(error), False
        if not good:
            wrong += 1
            print("%s, %s: %s, not %s" % (what, way, got, wanted))
print(asked, "ways,", wrong, "wrong")
sys.exit(wrong > 0)
