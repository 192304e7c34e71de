"""receiver_judge - the numbers of dynamic groups, from a dump on standard input.

    receiver_judge.py                one line each: name{labels} unit type newest-value
    receiver_judge.py --boots NAME   how many starts its counter had
    receiver_judge.py --twice        how many samples have the set and time of another

SPDX-License-Identifier: MIT
"""
import json
import sys


def plain(value):
    if value is None:
        return "unknown"
    return str(int(value)) if float(value).is_integer() else repr(value)


def main():
    sets, samples = {}, []
    for line in sys.stdin:
        row = json.loads(line)
        if row["kind"] == "entity" and row["entity"] == "set":
            sets[row["id"]] = row["properties"]
        elif row["kind"] == "sample":
            samples.append(row)
    samples = [row for row in samples if row["set"] in sets]
    if sys.argv[1:] == ["--twice"]:
        keys = [(row["set"], row["time_ns"]) for row in samples]
        print(len(keys) - len(set(keys)))
        return
    newest, boots = {}, set()
    for row in sorted(samples, key=lambda row: row["time_ns"]):
        kept = sets[row["set"]]
        labels = json.loads(kept.get("labels", "{}"))
        names, types = kept["names"].split(), kept.get("types", "").split()
        units = kept.get("units", "").split()
        of_row = dict(zip(names, row["values"]))
        if sys.argv[1:2] == ["--boots"] and sys.argv[2] in of_row:
            boots.add(of_row["poolscope.boot"])
        for i, name in enumerate(names):
            key = name + "{" + ",".join(f"{k}={v}" for k, v in sorted(labels.items())) + "}"
            unit = units[i] if i < len(units) else "-"
            newest[key] = f"{unit} {types[i]} {plain(row['values'][i])}"
    if sys.argv[1:2] == ["--boots"]:
        print(len(boots))
        return
    for key in sorted(newest):
        print(key, newest[key])


main()
