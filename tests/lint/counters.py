#!/usr/bin/env python3
"""counters - compares what names counters with their table, proto/counter/counters.def.

    tests/lint/counters.py            write the sections COUNTERS of the manual pages
    tests/lint/counters.py --check    say what differs, and fail

Services give each a value; the manual pages of aggregator and broker list what each of
their entities has; that of stats metrics names every metric; the page knows no others.
SPDX-License-Identifier: MIT
"""
import re
import sys
import textwrap

TABLE = "proto/counter/counters.def"
PAGES = {"aggregator/poolscope-aggregator.8": ("store", "aggregator"), "broker/poolscope-broker.8": ("broker",)}
SERVICES = ["aggregator/daemon/status.c", "aggregator/query/status.c", "broker/relay/relay.c"]
SHOWN = {"broker*": "broker and broker:ENDPOINT", "broker:*": "broker:ENDPOINT", "aggregator:archive:shard:*": "aggregator:archive:shard:N"}
ROW = re.compile(r'^(OF|COUNTER|JUDGED|FAMILY)\((\w+), (.*)\)$', re.M)
TEXT = r'"((?:[^"\\]|\\.)*)"'


def read_table():
    """The entities: id, and of each counter name, kind, help and metric or None."""
    ids, entities = {}, {}
    with open(TABLE) as file:
        text = file.read()
    for macro, entity, rest in ROW.findall(text[text.index("*/"):]):
        if macro == "OF":
            ids[entity] = rest.strip('"')
            entities[ids[entity]] = []
            continue
        texts = [each.replace('\\"', '"') for each in re.findall(TEXT, rest)]
        name = texts.pop(0) if macro == "FAMILY" else rest.split(",")[0]
        kind = re.search(r"\b([A-Z]+)\b, \"", rest).group(1)
        metric = next((each for each in texts[1:] if each.startswith("poolscope_")), None)
        entities[ids[entity]].append((name, kind, texts[0], metric))
    return entities


def section(entities, firsts):
    lines = []
    for entity, rows in entities.items():
        if re.split("[:*]", entity)[0] not in firsts:
            continue
        lines += [".Ss " + SHOWN.get(entity, entity), '.Bl -tag -width "questions_refused" -compact']
        for name, _, words, _ in rows:
            lines.append(".It " + name.replace(":", "\\&:"))
            for sentence in re.split(r"(?<=\.) ", words.replace("--", "\\-\\-")):
                lines += textwrap.wrap(sentence, 88, break_on_hyphens=False, break_long_words=False)
        lines.append(".El")
    return "\n".join(lines) + "\n"


def pages(entities, is_check):
    for path, firsts in PAGES.items():
        with open(path) as file:
            text = file.read()
        at = text.index(".Ss ", text.index(".Sh COUNTERS\n"))
        end = text.rindex(".El\n", at, text.index("\n.Sh ", at) + 1) + len(".El\n")
        new = text[:at] + section(entities, firsts) + text[end:]
        if new == text:
            continue
        if is_check:
            yield path + ": COUNTERS is not that of the table: run tests/lint/counters.py"
            continue
        with open(path, "w") as file:
            file.write(new)


def names(entities):
    """What names counters and metrics by hand."""
    metrics = {metric for rows in entities.values() for _, _, _, metric in rows if metric}
    with open("exporters/question/metrics.mdoc") as file:
        manual = set(re.findall(r"poolscope_\w+", file.read()))
    for metric in sorted(metrics):
        if not {metric, metric + "_total"} & manual:
            yield "exporters/question/metrics.mdoc: %s is missing" % metric
    with open("exporters/web/page/status.js") as file:
        for entity, name in re.findall(r'\bn\("([\w:]+)", "(\w+)"\)', file.read()):
            if name not in (row[0] for row in entities[entity] + entities.get(entity + "*", [])):
                yield "exporters/web/page/status.js: %s has no counter %s" % (entity, name)


def values():
    """A row without a value: the service would not publish it."""
    with open(TABLE) as file:
        rows = re.findall(r"^(?:COUNTER|JUDGED)\((\w+), (\w+),", file.read().split("*/")[1], re.M)
    text = ""
    for path in SERVICES:
        with open(path) as file:
            text += file.read()
    for entity, name in rows:
        if not re.search(r'\bCOUNTER_%s_%s\b|"%s"' % (entity, name, name), text) and not name.startswith("records_"):
            yield "%s: no service gives %s of %s a value" % (TABLE, name, entity)


def main():
    entities = read_table()
    is_check = sys.argv[1:] == ["--check"]
    found = list(pages(entities, is_check)) + list(names(entities)) + list(values())
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
