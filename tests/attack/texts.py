"""texts - names and values that would be commands, formulas or markup.

Usage: texts.py send LISTENER READER CANARY | list CANARY | csv FILE CANARY |
json FILE CANARY | svg FILE...; exits with 1 and a word when something is not as it was.
SPDX-License-Identifier: MIT
"""

import csv
import json
import sys
import xml.etree.ElementTree as ET

import msgpack

from batches import Hand, event, indexed
from sender import DEAD, is_ack


def payloads(canary):
    """Forty of them; `touch` is what each would run."""
    t = "touch " + canary
    return [
        "`%s`" % t, "$(%s)" % t, "\"`%s`\"" % t, "'`%s`'" % t, "'; system('%s'); '" % t, "\"; system(\"%s\"); \"" % t,
        "'.system('%s').'" % t, "\".system(\"%s\").\"" % t, "!%s" % t, "< %s" % t, "| %s" % t, "<%s" % t, "|%s" % t,
        "@x", "'; @x; '", "'; load '< %s'; '" % t, "'; set output '|%s'; '" % t, "'; !%s" % t, "\\n!%s\\n" % t,
        "EOD !%s" % t, "'' system('%s')" % t, "'''.system('%s').'''" % t, "\\\"; system('%s'); \\\"" % t,
        "\\", "\\\\", "\\'", "\\\"", "%%s%%n%%d", "{/Symbol a}_{b}^{c}&{d}~e{f}", "#%s" % t, "-" + t, "--help", "-o/tmp/x",
        "; %s #" % t, "&& %s" % t, "=cmd|'/c %s'!A1" % t, "+1+cmd|' /c %s'!A0" % t, "@SUM(1+1)*cmd|' /c %s'!A0" % t,
        "../../../../tmp/x", "<script>alert(1)</script><img src=x onerror=alert(1)>",
    ]


def send(listener, reader, canary):
    for i, text in enumerate(payloads(canary)):
        s = Hand(listener, "texts-%d" % i, partition="acct$" + text)
        at = 1760000000 * 10**9
        records = [msgpack.packb([4, "set", text, {"names": "value", "units": text.replace(" ", "_"), "types": "gauge"}])]
        records += [msgpack.packb([2, at + n * 10**9, text, [n]]) for n in range(20)]
        for source, name in (("nodeprep", "start"), ("cascade", "pull-start"), ("cascade", "pull-end"),
                             ("cascade", "gr-done"), ("nodeprep", "end")):
            at += 10**9
            records.append(msgpack.packb([1, at, source, name, {"message": "img=%s,diff=1.5,size=3MB" % text}, None]))
        records.append(event({text: text, "message": text + "\r\n\x1b[31m\x00", "n": float("inf"), "big": 2**63 - 1},
                             at, text))
        answer = s.put(1, b"".join(records), len(records))
        is_ack(answer, 1)
        if answer.flags & DEAD:  # not a number
            records[-1] = event({text: text, "message": text + "\r\n\x1b[31m\x00", "big": 2**63 - 1}, at, text)
            answer = s.put(2, b"".join(records), len(records))
            is_ack(answer, 2)
            assert not answer.flags & DEAD, text
    indexed(reader)


def names(canary):
    return ["acct$" + t for t in payloads(canary)]


def read_csv(path, canary):
    """RFC 4180, by another reader: every row as long as the first, no cell that
    a spreadsheet would compute, and the text as it was sent."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f, strict=True))
    assert len(rows) > 20, len(rows)
    assert {len(r) for r in rows} == {len(rows[0])}, {len(r) for r in rows}
    cells = set()
    for row in rows[1:]:
        for cell in row:
            if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not is_number(cell)):
                raise AssertionError("a formula: %r" % cell)
            cells.add(cell[1:] if cell[:1] == "'" else cell)
    return cells


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def check_csv(path, canary):
    cells = read_csv(path, canary)
    for text in payloads(canary):
        if not any(text in c or c in text for c in cells if c):
            raise AssertionError("not in the CSV: %r" % text)


def check_json(path, canary):
    def no_constant(name):
        raise AssertionError("%s is not JSON" % name)
    seen = set()
    with open(path, "rb") as f:
        for line in f:
            assert not any(b < 0x20 and b != 0x0A for b in line), line
            record = json.loads(line.decode("utf-8"), parse_constant=no_constant)
            seen.update(walk(record))
    assert 2**63 - 1 in seen or str(2**63 - 1) in seen, "2^63 - 1 is another number"
    for text in payloads(canary):
        assert text in seen, "not in the JSON: %r" % text
        assert text + "\r\n\x1b[31m\x00" in seen, "not in the JSON, with control bytes: %r" % text


def check_svg(*paths):
    """Words are words: no element, link or handler but gnuplot's own."""
    known = {"svg", "title", "desc", "g", "defs", "path", "text", "circle", "rect", "use", "tspan", "filter", "feFlood",
             "feComposite", "feBlend", "clipPath", "polygon", "line", "mask", "linearGradient", "stop", "style"}
    for path in paths:
        for element in ET.parse(path).iter():
            name = element.tag.split("}")[-1]
            assert name in known, "%s in %s" % (name, path)
            for key, value in element.attrib.items():
                assert not key.lower().startswith("on") and "script:" not in value.lower(), (path, key, value)


def walk(value):
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from walk(v)
    elif isinstance(value, list):
        for v in value:
            yield from walk(v)
    else:
        yield value


def main():
    verb, rest = sys.argv[1], sys.argv[2:]
    if verb == "list":
        print("\n".join(names(*rest)))
    else:
        {"send": send, "csv": check_csv, "json": check_json, "svg": check_svg}[verb](*rest)


if __name__ == "__main__":
    main()
