"""answers - whatever is done to a store, it answers as before.

POOLS random pools, GROUP of them in each store: events whose times are often equal,
ends without starts, reboots, spans that end before they begin, counters that restart,
gaps, definitions that grow or contradict, entities; each pool through agents' batches,
a broker and imports, in any order, many identities twice or claimed by somebody else.
Then compact, rebuild, backup with restore and retention, in any order.  After each of
them `poolscope-admin verify` must find nothing, and the answers must be those from before
(after retention: those of the model).  At the begin and after retention a model, which
knows proto/store.md and proto/record/pairing.h but no code of the programs, says how
many records of each kind there are, how many pairs and open events each phase has, how
long they took, and what the samples of a gauge add up to.

	POOLS=100000 SEED=7 make test T=fault/210

Prints `seed N`.  The pools have the numbers from N on; what is done to a store follows
from that of its first one.  To repeat the store of pools 250 to 299: SEED=250 POOLS=50.
SPDX-License-Identifier: MIT
"""
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
from peer import ACK, BATCH, BUSY, VERSION, agent, connected, crc32c, recv_answer, running_hash  # noqa: E402

SLOW = int(os.environ.get("SLOW", "2"))
POOLS = int(os.environ.get("POOLS", "0")) or 800 // int(os.environ.get("SHARE", "1"))
GROUP = 50  # in a store
SECOND = 10 ** 9
HOUR = 3600 * SECOND
LONGEST = 2 ** 63 - 1  # a duration: 292 years
FIRST_TIME, LAST_TIME = -2208988800 * SECOND, 7258118399 * SECOND  # of records: 1900, 2199
RETAIN_HOURS = 50
NACK, ONCE, REJECTED = 5, 256, 8
EVENT, SAMPLE, SPAN, ENTITY, GAP, BATCH_REJECTED = 1, 2, 3, 4, 5, 7
KIND = {EVENT: "event", SAMPLE: "sample", SPAN: "span", GAP: "gap", BATCH_REJECTED: "rejected"}

# Beside the models that are installed.
MODEL = """
phase "overlap" {
	start = "overlap:start"
	end = "overlap:end"
	key = "k"
	pairing = "fifo"
}
phase "shared" {
	start = "shared:start"
	end = "shared:end"
	scope = "run"
	run = "k"
}
"""

# The phases that the events below play a role in: start, end, the attribute that names
# the pair, and whether the pair is one of a run.
PHASES = {
    "cascade:nodeprep": ("nodeprep:start", "nodeprep:end", None, False),
    "cascade:docker-install": ("nodeprep:start", "privateregistry:start", None, False),
    "cascade:global-resources": ("cascade:start", "cascade:gr-done", None, False),
    "cascade:pull": ("cascade:pull-start", "cascade:pull-end", "img", False),
    "cascade:torrent": ("cascade:torrent-start", "cascade:load-start", "img", False),
    "cascade:load": ("cascade:load-start", "cascade:load-end", "img", False),
    "job:run": ("job:start", "job:stop", "job", False),
    "extra:overlap": ("overlap:start", "overlap:end", "k", False),
    "extra:shared": ("shared:start", "shared:end", "k", True),
    "testrun:queue": ("run:queue_start", "run:queue_end", "run", True),
    "testrun:flash": ("run:flash_start", "run:flash_end", "run", True),
    "testrun:publish": ("run:test_end", "run:publish", "run", True),
}


def cpu_columns():
    """The agent's own group cpu: names, units and types."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../proto/metric/metric_groups.def")
    body = re.search(r"^GROUP\(cpu, .*?^END", open(path).read(), re.S | re.M).group(0)
    return [("poolscope.boot", "1", "false")] + [
        (name, unit, "true" if kind == "COUNTER" else "false")
        for kind, name, unit in re.findall(r'^(COUNTER|GAUGE)\(\w+, "([^"]*)", "([^"]*)"\)', body, re.M)]


CPU = cpu_columns()


def definition(group, columns):
    names, units, types = zip(*columns)
    return [ENTITY, "set", group, {
        "names": " ".join(names), "units": " ".join(units),
        "types": " ".join("counter" if grows == "true" else "gauge" for grows in types)}]


# ---- the model ----

class Model:
    """What a partition must have."""

    def __init__(self):
        self.stored = []  # (kind, node, time, record)
        self.streams, self.named, self.contents, self.names = set(), set(), set(), set()
        self.places = {}  # of a named record: the session that named it, and its names
        self.definitions = {}

    def take_batch(self, now, session, node, records, once):
        """Records: (record, node, identity or None)."""
        noted = session in self.named
        self.streams.add(session)
        for place, (record, own, identity) in enumerate(records):
            if self.is_new(session, place, record, own, identity, noted, once):
                self.keep(now, node, record, own)

    def is_new(self, session, place, record, node, identity, noted, once):
        kind = record[0]
        if kind == ENTITY:
            if identity and identity[0] != session and (identity[0] in self.named or identity[0] not in self.streams):
                self.streams.add(identity[0])
                self.named.add(identity[0])
            return True
        if identity and identity[0] != session:
            taken = self.take(session, record, node, identity)
            if taken == "repeated":
                return False
            if taken == "new" and (identity[0] in self.named or identity[0] not in self.streams):
                self.streams.add(identity[0])
                self.named.add(identity[0])
                return True
        elif once:
            uuid = record[5] if kind == EVENT else None
            content = (kind, uuid) if uuid else (kind, node, repr(record))
            content += (self.hour_of(record),)
            if content in self.contents:
                return False
            self.contents.add(content)
        return not noted or self.take(session, record, node, (session, self.seq, place)) != "repeated"

    @staticmethod
    def hour_of(record):
        return record[1] // HOUR

    def take(self, session, record, node, identity):
        kind = record[0]
        place = (kind, node, record[1], record[3] if kind == SPAN else record[2] if kind == SAMPLE else "") + identity
        names = {EVENT: lambda r: (r[2], r[3]), SAMPLE: lambda r: r[2],
                 SPAN: lambda r: (r[2], r[3], r[4]), GAP: lambda r: tuple(r[2:])}[kind](record)
        if place not in self.places:
            self.places[place] = session, names
            return "new"
        owner, others = self.places[place]
        if names == others or (place, names) in self.names:
            return "repeated"
        self.names.add((place, names))
        return "repeated" if owner == session else "claimed"

    def keep(self, now, sender, record, node):
        if record[0] == ENTITY and record[1] == "set":
            new = list(zip(*(record[3].get(list_, "").split(" ") for list_ in ("names", "units", "types"))))
            held = self.definitions.setdefault(record[2], new)
            least = min(len(held), len(new))
            if held[:least] != new[:least]:
                self.stored.append((BATCH_REJECTED, sender, now, record))
                return
            if len(new) > len(held):
                self.definitions[record[2]] = new
        if record[0] != ENTITY:
            self.stored.append((record[0], node, record[1], record))

    def reject(self, now, node):
        self.stored.append((BATCH_REJECTED, node, now, None))

    def retain(self, cut):
        self.stored = [item for item in self.stored if item[2] >= cut]

    def counts(self):
        counts = collections.Counter(KIND[item[0]] for item in self.stored)
        return {kind: counts[kind] for kind in KIND.values()}

    @staticmethod
    def attribute(record, key):
        if key in record[4]:
            return str(record[4][key])
        for pair in str(record[4].get("message", "")).split(","):
            name, found, value = pair.partition("=")
            if found and name == key:
                return value
        return None

    def phases(self):
        """count, open starts, open ends, durations or None, of each phase."""
        answer = {}
        for phase, (start, end, key, of_run) in PHASES.items():
            states = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
            measured = False
            for kind, node, at, record in self.stored:
                if kind != EVENT:
                    continue
                name = "%s:%s" % (record[2], record[3])
                if name not in (start, end):
                    continue
                value = self.attribute(record, key) if key else None
                if of_run and value is None:
                    continue
                states[value or "", None if of_run else node][at][name == end] += 1
                measured = measured or (name == end and phase.startswith("cascade") and
                                        self.attribute(record, "diff") is not None)
            durations, open_starts, open_ends = self.pair(states.values(), phase == "extra:overlap")
            answer[phase] = len(durations), open_starts, open_ends, None if measured else durations
        return answer

    @staticmethod
    def pair(states, fifo):
        """Durations, open starts, open ends."""
        durations, open_starts, open_ends = [], 0, 0
        for state in states:
            waiting = []
            for at in sorted(state):
                starts, ends = state[at]
                while ends and waiting:
                    durations.append(min(at - waiting.pop(0), LONGEST))
                    ends -= 1
                own = min(starts, ends)
                durations += [0] * own
                open_ends += ends - own
                waiting += [at] * (starts - own)
                if not fifo and starts > own:
                    open_starts += len(waiting) - 1
                    waiting = waiting[-1:]
            open_starts += len(waiting)
        return durations, open_starts, open_ends

    def gauge(self, base):
        """count, least and most of column x of app/g around the base.  Samples with more values than the
        group has columns are not read."""
        columns = len(self.definitions["app/g"])
        values = [r[3][0] for kind, _, at, r in self.stored if kind == SAMPLE and r[2] == "app/g"
                  and abs(at - base) < 70 * HOUR
                  and len(r[3]) <= columns and r[3][0] is not None]
        return (len(values), min(values), max(values)) if values else None


# ---- pools ----

class Pool:
    def __init__(self, seed, name, base):
        self.random = random.Random(seed)
        self.seed, self.partition, self.base = seed, "p$" + name, base
        self.model = Model()
        pick = self.random
        self.equal = pick.random() < 0.5
        self.old = pick.random() < 0.5  # has records that retention deletes
        self.measures = pick.random() < 0.3
        self.farm = pick.random() < 0.3
        self.twice = pick.random() < 0.5
        self.far = pick.random() < 0.2  # clocks that are years off
        self.nodes = ["n%d" % i for i in range(1, pick.choice([2, 3, 4]))]
        self.times = [base, base, base - SECOND, base - 5 * SECOND]
        self.sessions = [pick.randbytes(16) for _ in range(3)]
        self.seqs = collections.Counter()
        self.hashes = {}
        self.boots = [pick.randrange(1, 1 << 48) for _ in range(2)]
        self.counter = 0
        self.given = []

    def special(self):
        return self.equal or self.twice

    def time(self):
        pick = self.random
        if self.far and pick.random() < 0.2:
            return pick.choice([FIRST_TIME, FIRST_TIME + 1, 0, -1, LAST_TIME - 1, LAST_TIME - HOUR])
        if self.equal:
            at = pick.choice(self.times)
        else:
            at = self.base - pick.randrange(7200) * SECOND - pick.choice([0, pick.randrange(SECOND)])
        if self.old and pick.random() < 0.4:
            at -= 60 * HOUR
        return at

    def event(self):
        pick = self.random
        if self.farm and pick.random() < 0.6:
            source, name = "run", pick.choice([
                "queue_start", "queue_end", "flash_start", "flash_end", "test_end", "publish", "other"])
            attributes = {"run": pick.choice(["r1", "r2"])}
            if pick.random() < 0.3:
                attributes[pick.choice(["device_group", "error"])] = pick.choice(["g", "h"])
        else:
            source, name = pick.choice([
                ("nodeprep", "start"), ("nodeprep", "end"), ("privateregistry", "start"), ("cascade", "start"),
                ("cascade", "gr-done"), ("cascade", "pull-start"), ("cascade", "pull-end"),
                ("cascade", "torrent-start"), ("cascade", "load-start"), ("cascade", "load-end"), ("job", "start"),
                ("job", "stop"), ("other", "x"), ("overlap", "start"), ("overlap", "end"), ("shared", "start"),
                ("shared", "end")])
            attributes = {}
            if source == "job":
                attributes["job"] = pick.choice(["1", "2", 2])
            elif source in ("overlap", "shared"):
                attributes["k"] = pick.choice("ab")
            elif "-" in name and name != "gr-done":
                attributes["message"] = "img=" + pick.choice("ab")
                if self.measures and name.endswith("end"):
                    attributes["message"] += ",diff=" + pick.choice(["1", "2.5", "-1", "0", "1e300", "nan"])
        if pick.random() < 0.05:
            attributes["long"] = "x" * pick.choice([300, 3000, 9000])
        uuid = pick.randbytes(16) if pick.random() < 0.2 else None
        return [EVENT, self.time(), source, name, attributes, uuid]

    def sample(self):
        pick = self.random
        group = pick.choice(["app/g", "app/c", "cpu"])
        if group == "app/g":
            values = [pick.choice([None, 1, 2.5, -3, 1 << 40]), pick.randrange(9)][:pick.choice([1, 2, 2])]
        elif group == "app/c":
            self.counter = 0 if pick.random() < 0.2 else self.counter + pick.randrange(100)
            values = [pick.choice(self.boots), self.counter]
        else:
            self.counter += pick.randrange(100)
            values = [self.boots[0] if i == 0 else self.counter + i for i in range(len(CPU))]
        return [SAMPLE, self.time(), group, values]

    def record(self):
        pick = self.random
        if self.twice and self.given and pick.random() < 0.15:
            return pick.choice(self.given)
        what = pick.random()
        if what < 0.6:
            record = self.event()
        elif what < 0.75:
            record = self.sample()
        elif what < 0.83:
            at = self.time()
            end = min(at + pick.choice([0, SECOND, 3 * HOUR]), LAST_TIME)
            record = [SPAN, at, end, pick.choice("tu"), pick.choice(["a", "b"]), "", {"k": pick.choice([1, "x", None])}]
        elif what < 0.88:
            at = self.time()
            record = [GAP, at, min(at + pick.choice([0, SECOND]), LAST_TIME), pick.choice(["sample", "event"]), "full",
                      pick.randrange(1, 9)]
        elif what < 0.95:
            record = pick.choice([
                definition("app/g", [("x", "1", "false"), ("y", "", "false")]),
                definition("app/g", [("x", "1", "false")]), definition("app/g", [("z", "1", "false")]),
                definition("app/c", [("poolscope.boot", "1", "false"), ("c", "1", "true")]),
                definition("cpu", CPU)])
        else:
            record = [ENTITY, pick.choice(["image", "run"]), pick.choice(["a", "r1"]),
                      {pick.choice(["p", "device_group", "error"]): pick.choice([1, "q", None])}]
        self.given.append(record)
        return record

    def batch(self):
        """One batch for the store: header fields, records."""
        pick = self.random
        once = pick.random() < 0.35
        session = pick.choice(self.sessions)
        named = pick.choice(self.sessions + [bytes(15) + b"\7"])
        records = []
        for _ in range(pick.choice([1, 3, 12])):
            identity = None
            if once and pick.random() < 0.6:
                identity = (named, pick.randrange(1, 4), pick.randrange(4))
            records.append((self.record(), pick.choice(self.nodes), identity))
        return session, once, records

    def send(self, socket):
        session, once, records = self.batch()
        pick = self.random
        seq = self.seqs[session] = self.seqs[session] + 1
        sender = self.nodes[0]
        body, following = b"", None
        held = []
        for record, node, identity in records:
            # Without a context of its own a record follows the one before.
            if identity is None and following is not None:
                identity = following
                body += msgpack.packb([0, node])
            elif identity is None:
                body += msgpack.packb([0, node])
            else:
                body += msgpack.packb([0, node, identity[0], identity[1], identity[2], self.base])
            following = identity and (identity[0], identity[1], identity[2] + 1)
            held.append((record, node, identity))
            body += msgpack.packb(record)
        if pick.random() < 0.03:  # a record that no store can have
            body += msgpack.packb([SPAN, self.base, "never", "t", "a", "", {}])
            held.append(None)
        before = self.hashes.get(session, 0)
        flags = ONCE if once else 0
        header = [self.partition, sender, session, seq, len(held), 0, self.base, len(body), before] + [0] * 8
        rest = msgpack.packb(header) + body
        head = struct.pack("<4sBBHI", b"PSCP", VERSION, BATCH, flags, len(rest))
        self.hashes[session] = running_hash(before, body, len(held))
        for _ in range(20):
            socket.send(head + struct.pack("<I", crc32c(head + rest)) + rest)
            answer = recv_answer(socket)
            if (answer.type, answer.reason) != (NACK, BUSY):
                break
            time.sleep(answer.retry_ms / 1000)
        assert answer.type == ACK, (answer.type, answer.reason)
        self.model.seq = seq
        if answer.flags & REJECTED:
            self.model.reject(time.time_ns(), sender)
            self.model.streams.add(session)
        else:
            assert None not in held, "a malformed record was accepted"
            self.model.take_batch(time.time_ns(), session, sender, held, once)


# ---- stores ----

def run(*words, store=None):
    words = list(words) + (["--store", store] if store else [])
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300 * SLOW)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Failed(Exception):
    pass


QUESTIONS = {
    "phases": ["poolscope-stats", "phases", "--start", "all"],
    "cascade": ["poolscope-stats", "cascade", "--start", "all"],
    "testrun": ["poolscope-stats", "runs"], "samples": ["poolscope-stats", "samples"],
    "usage": ["poolscope-stats", "usage"], "nodes": ["poolscope-stats", "nodes"],
}


class Store:
    def __init__(self, seed, pools, base):
        self.random = random.Random(seed)
        self.dir = tempfile.mkdtemp(prefix="psa.")
        self.pools = [Pool(number, "%d" % number, base) for number in pools]
        self.base, self.store = base, self.dir + "/store"
        self.processes = []
        self.done = []
        os.environ["POOLSCOPE_DIR"] = self.dir
        os.makedirs(self.dir + "/run")
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/models"),
                        self.dir + "/models")
        with open(self.dir + "/models/extra.conf", "w") as model:
            model.write(MODEL)
        os.environ["POOLSCOPE_MODELS"] = self.dir + "/models"

    def start(self, *words):
        reader, writer = os.pipe()
        with open(self.dir + "/log", "ab") as log:
            process = subprocess.Popen(list(words) + ["--ready-fd", str(writer)], pass_fds=[writer],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        os.close(writer)
        ready = os.read(reader, 1)
        os.close(reader)
        if ready != b"\n":
            raise Failed("%s did not start: %s" % (words[0], open(self.dir + "/log").read()[-500:]))

    def stop(self):
        while self.processes:
            process = self.processes.pop()
            process.terminate()
            process.wait()

    def wait(self, name, until):
        end = time.monotonic() + 60 * SLOW
        while True:
            _, text, _ = run(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../flow/counters.py"))
            if text and until(json.loads(text)):
                return
            if time.monotonic() > end:
                raise Failed("waited in vain: " + name)
            time.sleep(0.02)

    def fill(self):
        self.start("poolscope-aggregator")
        self.start("poolscope-broker")
        connected("ipc://%s/run/broker.ipc" % self.dir, "ipc://%s/run/intake.ipc" % self.dir)
        sockets = [agent("ipc://%s/run/%s.ipc" % (self.dir, name)) for name in ("intake", "broker")]
        turns = [pool for pool in self.pools for _ in range(pool.random.choice([1, 3, 12]))]
        self.random.shuffle(turns)
        for pool in turns:
            pool.send(self.random.choice(sockets))
        for socket in sockets:
            socket.close()
        self.wait("indexed", lambda status: status["store"]["indexing_lag"] == 0)
        self.stop()

    # ---- what is done to it ----

    def do(self, what):
        self.done.append(what)
        code, err = 0, ""
        if what in ("compact", "rebuild"):
            code, _, err = run("poolscope-admin", what, "-q", store=self.store)
        elif what == "restore":
            code, _, err = run("poolscope-admin", "backup", self.dir + "/copy", "-q", store=self.store)
            if code == 0:
                shutil.rmtree(self.store)
                code, _, err = run("poolscope-admin", "restore", self.dir + "/copy", "-q", store=self.store)
                shutil.rmtree(self.dir + "/copy")
        elif what == "retain":
            self.start("poolscope-aggregator", "--retain", "%dh" % RETAIN_HOURS)
            self.wait("retained", lambda status: status["aggregator"]["retained_ns"] > 0 and
                      status["store"]["indexing_lag"] == 0)
            self.stop()
            for pool in self.pools:
                pool.model.retain(self.base - 40 * HOUR)
        if code != 0:
            raise Failed("%s: status %d: %s" % (what, code, err[:300]))

    # ---- what it answers ----

    def verify(self):
        code, out, err = run("poolscope-admin", "verify", "-q", store=self.store)
        if code != 0:
            raise Failed("verify: %s" % (out + err)[:500])

    def ask(self, pool, questions):
        answers = {}
        words = ["-q", "-p", pool.partition, "--format"]
        _, text, _ = run("poolscope-dump", *words, "jsonl", store=self.store)
        lines = [json.loads(line) for line in text.splitlines()]
        # A restored store says that it may lack something.
        answers["dump"] = sorted(json.dumps(line) for line in lines if line.get("reason") != "since-backup")
        for name in questions:
            window = ["--from", str(self.base // SECOND - 80 * 3600), "--to", str(self.base // SECOND + 7200)]
            code, text, _ = run(*QUESTIONS[name], *words, "json", *(window if name in ("samples", "usage") else []),
                                store=self.store)
            if '"notes": [' in text:
                # A restored store says that it may lack something.
                text = json.loads(text)
                text["notes"] = [note for note in text["notes"] if note["key"] != "lost"]
                text = json.dumps(text)
            if name == "nodes" and text:
                # What depends on when it is asked; a node from the future was heard when that was received.
                code = 0
                text = [{key: value for key, value in node.items() if key not in ("silence", "received_age", "state", "wrong")}
                        for node in json.loads(text)["rows"] if node["node"] in pool.nodes]
            elif name in ("samples", "usage") and text:
                # The end of the window is that of the newest record.
                text = {key: value for key, value in json.loads(text).items()
                        if not key.endswith("_ns") and key not in ("from", "to", "step")}
            answers[name] = code, text
        return answers

    def judge(self, pool, answers):
        """By the model."""
        found = collections.Counter(json.loads(line)["kind"] for line in answers["dump"])
        found = {kind: found[kind] for kind in KIND.values()}
        if found != pool.model.counts():
            raise Failed("%s has %s, not %s" % (pool.partition, found, pool.model.counts()))
        code, text = answers["phases"]
        got = {row["phase"]: row for row in json.loads(text)["rows"]} if code == 0 else {}
        for phase, (count, starts, ends, durations) in pool.model.phases().items():
            row = got.get(phase, {"count": 0, "open_starts": 0, "open_ends": 0, "sum": 0, "min": None, "max": None})
            wanted = count, starts, ends
            if (row["count"], row["open_starts"], row["open_ends"]) != wanted:
                raise Failed("%s: %s is %s, not %s" % (pool.partition, phase, row, wanted))
            if durations and (abs(row["sum"] - sum(durations) / 1e9) > 1e-3 + 1e-12 * row["sum"] or
                              abs(row["min"] - min(durations) / 1e9) > 1e-6 or
                              abs(row["max"] - max(durations) / 1e9) > 1e-6):
                raise Failed("%s: %s is %s: %s" % (pool.partition, phase, row, durations))
        self.judge_gauge(pool, answers)

    def judge_gauge(self, pool, answers):
        gauge = pool.model.gauge(self.base) if "app/g" in pool.model.definitions else None
        if gauge is None or pool.model.definitions["app/g"][0][0] != "x":
            return
        code, text = answers["samples"]
        rows = [row for row in text["rows"] if row["metric"] == "x"] if code == 0 else []
        got = (rows[0]["count"], rows[0]["min"], rows[0]["max"]) if rows else None
        if got != gauge:
            raise Failed("%s: x is %s, not %s" % (pool.partition, got, gauge))

    def compare(self, pool, wanted, got):
        for name, answer in got.items():
            if answer == wanted[name]:
                continue
            old, new = wanted[name], answer
            if name == "dump":
                old, new = sorted(set(old) - set(new)), sorted(set(new) - set(old))
            raise Failed("%s: %s differs:\n%s\nnot\n%s" % (pool.partition, name, str(new)[:1500], str(old)[:1500]))

    def live(self):
        self.fill()
        self.verify()
        wanted = {}
        for pool in self.pools:
            wanted[pool] = self.ask(pool, QUESTIONS)
            self.judge(pool, wanted[pool])
        steps = ["compact", "rebuild", "restore", "retain"]
        self.random.shuffle(steps)
        for step in steps + [self.random.choice(["compact", "rebuild", "restore"])]:
            self.do(step)
            self.verify()
            last = len(self.done) == len(steps) + 1
            for pool in self.pools:
                all_of_it = last or step == "retain"
                questions = QUESTIONS if all_of_it else ["phases", self.random.choice(list(QUESTIONS))]
                answers = self.ask(pool, questions)
                if step == "retain":
                    self.judge(pool, answers)
                    wanted[pool] = answers
                else:
                    self.compare(pool, wanted[pool], answers)


def live(first, count, seed, base):
    store = Store(seed + first, range(seed + first, seed + first + count), base)
    try:
        store.live()
        special = sum(pool.special() for pool in store.pools)
        assert special >= 0.3 * count or count < 20, special
        print("ok - pools %d to %d: %s" % (seed + first, seed + first + count - 1, " ".join(store.done)), flush=True)
        return True
    except (Failed, AssertionError, subprocess.TimeoutExpired) as error:
        print("FAILED - pools %d to %d, after %s:\n    %s" % (
            seed + first, seed + first + count - 1, " ".join(store.done), error), flush=True)
        return False
    finally:
        store.stop()
        if not os.environ.get("KEEP"):
            shutil.rmtree(store.dir, ignore_errors=True)
        else:
            print("kept", store.dir)


def main():
    seed = int(os.environ.get("SEED", random.randrange(10 ** 6)))
    print("seed %d" % seed, flush=True)
    # Hours that are over, so that all of them can be compacted.
    base = (time.time_ns() // HOUR - 3) * HOUR + 7 * SECOND
    groups = [(first, min(GROUP, POOLS - first)) for first in range(0, POOLS, GROUP)]
    workers, failed = [], 0
    while groups or workers:
        while groups and len(workers) < 2:
            first, count = groups.pop(0)
            pid = os.fork()
            if pid == 0:
                os._exit(0 if live(first, count, seed, base) else 1)
            workers.append(pid)
        pid, status = os.wait()
        workers.remove(pid)
        failed += status != 0
    groups = (POOLS + GROUP - 1) // GROUP
    print("%d passed, %d failed" % (groups - failed, failed))
    sys.exit(failed != 0)


main()
