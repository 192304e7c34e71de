#!/usr/bin/env python3
"""counters - what `poolscope stats status OPTIONS` counts, by entity and name, as JSON.

    tests/flow/counters.py [OPTION...]

{"store": {"indexing_lag": 0, ...}, "aggregator": {...}, "partitions": {"acct$pool":
{"records_event": 3, ...}}, "broker": ...}; of several sources a list of these by place.
Times are ns, 0 if there is none.  The exit status is 1 if the store did not answer.
SPDX-License-Identifier: MIT
"""
import datetime
import json
import subprocess
import sys

KINDS = {"events": "event", "samples": "sample", "spans": "span", "entities": "entity", "gaps": "gap", "rejected": "rejected", "runs": "run"}


def nanoseconds(text):
    """A time in UTC, with up to 9 digits behind the point."""
    if text is None:
        return 0
    whole, _, part = text.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(whole + "+00:00")
    return int(at.timestamp()) * 10**9 + int((part + "0" * 9)[:9])


def value_of(row):
    if row["kind"] == "time":
        return nanoseconds(row["value"])
    return int(row["value"]) if row["kind"] == "number" else row["value"]


def by_place(status):
    """The places, in the order in which they are asked, and what each says."""
    places = {}
    for row in status.get("counters", ()):
        of = places.setdefault(row["place"], {"from": row["place"], "partitions": {}})
        of.setdefault(row["of"], {})[row["counter"]] = value_of(row)
    for row in status.get("partitions", ()):
        partition = {"partition": row["partition"], "nodes": row["nodes"], "last_entry": row["last_entry"],
                     "rejected_bytes": row["rejected_bytes"], "rejected_cut": row["rejected_cut"],
                     "first_ns": nanoseconds(row["oldest"]), "last_ns": nanoseconds(row["newest"])}
        partition.update({"records_" + kind: row[key] for key, kind in KINDS.items()})
        places.setdefault(row["place"], {"from": row["place"], "partitions": {}})["partitions"][row["partition"]] = partition
    return places


def counters(status):
    """Of an answer: the counters of its only source, and the broker; or of each place."""
    places = by_place(status)
    broker = {"broker": {"state": part["state"]} for part in status["parts"] if part["part"] == "broker"}
    for place in [place for place, of in places.items() if "broker" in of]:
        for of, each in places.pop(place).items():
            if of.startswith("broker"):
                broker[of] = each
    if len(places) == 1:
        return dict(places.popitem()[1], **broker)
    return dict({"sources": list(places.values())} if places else {}, **broker)


def main():
    done = subprocess.run(["poolscope-stats", "status", "--format", "json", "--quiet", *sys.argv[1:]],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        return 1
    found = counters(json.loads(done.stdout))
    print(json.dumps(found, indent=1))
    return "store" not in found and "sources" not in found and "broker" not in found


if __name__ == "__main__":
    sys.exit(main())
