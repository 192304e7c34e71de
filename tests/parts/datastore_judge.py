"""datastore_judge - what is in Datastore, read by Google's own client.

	PORT NAMESPACE case CASE-DIRECTORY   as recorded, each row once?
	PORT NAMESPACE file FILE             that file and no other?
	PORT NAMESPACE count                 how many tests and entries

Project "proj"; both kinds of rows as in tests/golden/testbench.
SPDX-License-Identifier: MIT
"""
import datetime, json, os, sys
from google.cloud import datastore

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden",
                                "testbench"))
sys.dont_write_bytecode = True
import testbench

port, namespace, word, *rest = sys.argv[1:]
os.environ["DATASTORE_EMULATOR_HOST"] = f"127.0.0.1:{port}"
client = datastore.Client("proj", namespace or None, _use_grpc=False)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def rows():
    for kind in ("Test", "Entry"):
        for entity in client.query(kind=kind).fetch():
            assert entity.exclude_from_indexes == {"info"}, entity
            row = {"kind": kind, **entity}
            start = row.pop("start")
            row["start_us"] = (start - EPOCH) // datetime.timedelta(
                microseconds=1)
            yield row


def order(row):
    return (row["kind"], row["test"], row["start_us"], row.get("entry", ""),
            str(row.get("timing")))


def case(directory):
    want = sorted(testbench.rows(
        testbench.expected(directory, "entities.jsonl")), key=order)
    got = sorted(rows(), key=order)
    assert len(got) == len(want), (len(got), len(want))
    for a, b in zip(want, got):
        assert testbench.same(a, b), (a, b)


def file(path):
    text = open(path, encoding="utf-8", newline="").read()
    read = json.loads(text)
    got = list(rows())
    tests = [row for row in got if row["kind"] == "Test"]
    assert [t["info"] for t in tests] == [text], len(tests)
    want = sorted((e["name"], e["wallTime"], json.dumps(e))
                  for e in read["entries"]["entry"])
    have = sorted((e["entry"], e["timing"], e["info"])
                  for e in got if e["kind"] == "Entry")
    assert have == want, (len(have), len(want))


def count():
    got = [row["kind"] for row in rows()]
    print(got.count("Test"), got.count("Entry"))


globals()[word](*rest)
