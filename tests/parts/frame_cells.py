"""frame_cells - what build/parts/frame_cells makes of hostile cells is what pyarrow, polars and
DuckDB read.

    frame_cells.py PROGRAM SCRATCH [SEED [ROUNDS]]

The cells are made here, and so nobody asks the program what is right.  Prints a line a case;
exit status 1: one of them differs.
SPDX-License-Identifier: MIT
"""
import itertools
import math
import os
import random
import struct
import subprocess
import sys

import pyarrow.parquet

from arrow_judge import SECOND, read, same

NAMES = ("text", "name", "count", "whole", "time", "duration", "number", "flag", "value")
MOST = 2 ** 63 - 1
NAN = float("nan")


def hexed(text):
    return "-" if text is None else "." + (text if isinstance(text, bytes) else text.encode()).hex()


def bits(number):
    return str(struct.unpack("<Q", struct.pack("<d", NAN if number is None else number))[0])


def typed(value):
    if isinstance(value, bool):
        return "b%d" % value
    if isinstance(value, int):
        return ("i%d" if value <= MOST else "u%d") % value
    if isinstance(value, float):
        return "f" + bits(value)
    return "-" if value is None else "t" + hexed(value)


def line(row):
    def plain(value):
        return "-" if value is None else str(int(value))
    return " ".join((hexed(row[0]), hexed(row[1]), plain(row[2]), plain(row[3]), plain(row[4]),
                     plain(row[5]), bits(row[6]), plain(row[7]), typed(row[8])))


def shown(text):
    """Bytes beyond ASCII of a text that is no UTF-8 become question marks."""
    if not isinstance(text, bytes):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        return bytes(b if b < 128 else 63 for b in text).decode()


def wanted(rows, value_type):
    """By column; a number that is not finite is unknown, but for a value of any type."""
    made = {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}
    for name in ("text", "name"):
        made[name] = [shown(text) for text in made[name]]
    made["number"] = [n if n is not None and math.isfinite(n) else None for n in made["number"]]
    made["value"] = [None if v is None else shown(v) if value_type is str else value_type(v)
                     for v in made["value"]]
    return made


def columns(rows, **of):
    """Rows in which all but these columns are simple."""
    simple = {"text": "t", "name": "n", "count": 1, "whole": -1, "time": 10 ** 18, "duration": -5,
              "number": 0.5, "flag": True, "value": 1.5}
    lists = [of.get(name, itertools.repeat(simple[name])) for name in NAMES]
    return list(itertools.islice(zip(*lists), rows))


def hostile():
    texts = [b"", b"\0", b"a\0b", b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"Z\xc3\xbcrich", b"\xf0\x9f\x98\x80",
             b"'=1+1", b"\r\n\",", b"x" * 65536, b"\xff" * 65537, b"\xe2\x80\xa8", None]
    whole = [MOST, -MOST, 0, -1, 1, 2 ** 53 + 1, None]
    floats = [NAN, -0.0, 0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, None, 0.1]
    return {
        "no row": ([], float),
        "one row": (columns(1), float),
        "one row of nothing": ([(None,) * 9], float),
        "rows of nothing": ([(None,) * 9] * 1000, float),
        "texts": (columns(60, text=itertools.cycle(texts), name=itertools.cycle(reversed(texts)),
                          value=itertools.cycle(texts)), str),
        "numbers": (columns(63, count=itertools.cycle([0, 1, 2 ** 64 - 2, 2 ** 63, None]), whole=itertools.cycle(whole),
                            time=itertools.cycle(whole), duration=itertools.cycle(whole[::-1]),
                            number=itertools.cycle(floats), value=itertools.cycle(floats)), float),
        "values that are ns": (columns(14, value=itertools.cycle(whole)), int),
        "flags": (columns(21, flag=itertools.cycle([True, False, None]),
                          value=itertools.cycle([None, True, True, False])), bool),
        "values of two types": (columns(8, value=itertools.cycle([None, "x", b"\xff"])), str),
        "names without end": (columns(140000, name=map(str, itertools.count()), text=map(str, itertools.count())), float),
        "half as many names": (columns(4000, name=(str(i // 2) for i in itertools.count()),
                                       text=(str(i % 2001) for i in itertools.count())), float),
        "256 and 257 names": (columns(9000, name=("%d" % (i % 256) for i in itertools.count()),
                                      text=("%d" % (i * i % 257) for i in itertools.count())), float),
        "large texts": (columns(700, text=(("%d" % i) * 20000 for i in itertools.count())), float),
        "several groups": (columns(300000, name=(200 * ("n%d" % (i // 70000)) for i in itertools.count()),
                                   text=("t%d" % (i % 3) if i % 5 else None for i in itertools.count()),
                                   time=(i if i < 131072 else None for i in itertools.count()),
                                   count=(None if i < 200000 else i for i in itertools.count()),
                                   number=map(float, itertools.count())), float),
    }


def by_chance(seed):
    """Runs of the same and of nothing, of every length around eight."""
    chance = random.Random(seed)

    def runs(make):
        while True:
            cell = None if chance.random() < 0.3 else make()
            for _ in range(chance.choice((1, 1, 2, 7, 8, 9, 15, 16, 17, 63, 500))):
                yield cell
    few = chance.choice((1, 2, 3, 17, 300))
    kinds = [(float, lambda: chance.choice((NAN, chance.random(), chance.randrange(9)))),
             (int, lambda: chance.randrange(-MOST, MOST)), (bool, lambda: chance.random() < 0.5),
             (str, lambda: chance.randbytes(chance.randrange(9)))]
    value_type, make = chance.choice(kinds)
    rows = columns(chance.choice((2, 7, 8, 9, 100, 3000)), text=runs(lambda: chance.randbytes(chance.randrange(20))),
                   name=runs(lambda: "n%d" % chance.randrange(few)), count=runs(lambda: chance.randrange(2 ** 64 - 1)),
                   whole=runs(lambda: chance.randrange(-MOST, MOST)), time=runs(lambda: chance.randrange(MOST)),
                   duration=runs(lambda: chance.randrange(-5, 5)), number=runs(chance.random),
                   flag=runs(lambda: chance.random() < 0.5), value=runs(make))
    values = [row[8] for row in rows if row[8] is not None]
    if value_type is float and not any(isinstance(v, float) for v in values) and values:
        value_type = int # a unit of ns keeps whole numbers exact
    return rows, value_type if values else float


def differences(got, want, without_time=False):
    for name in NAMES:
        if name == "time" and without_time:
            continue
        if len(got[name]) != len(want[name]):
            yield "%s: %d values, not %d" % (name, len(got[name]), len(want[name]))
        for i, (a, b) in enumerate(zip(got[name], want[name])):
            if not same(a, b) or (a == 0 and isinstance(a, float) and math.copysign(1, a) != math.copysign(1, b)):
                yield "%s of row %d: %.60r, not %.60r" % (name, i, a, b)


def sizes_hold(name, group, chunk, known):
    """A group ends when its texts are more than 16 MiB; a dictionary has its own texts alone."""
    different = set(known)
    most = (16 << 20) + 8 * group.num_rows + 200000
    if chunk.has_dictionary_page:
        width = (len(different) - 1).bit_length()
        most = sum(4 + len(t.encode()) for t in different) + (1 + width) * group.num_rows / 8 + 100 + len(known) / 100
    if chunk.total_uncompressed_size > most:
        yield "%s has %d bytes, of at most %d" % (name, chunk.total_uncompressed_size, most)


def limits_hold(path, want):
    """The least and greatest of each chunk, which readers leave out chunks by."""
    meta = pyarrow.parquet.ParquetFile(path).metadata
    at = 0
    for group in (meta.row_group(i) for i in range(meta.num_row_groups)):
        for i, name in enumerate(NAMES):
            of = group.column(i).statistics
            known = [v for v in want[name][at:at + group.num_rows] if v is not None]
            if of.null_count != group.num_rows - len(known):
                yield "%s has %d nulls, not %d" % (name, of.null_count, group.num_rows - len(known))
            if group.column(i).physical_type == "INT64" and known:
                got = of.min_raw, of.max_raw
                if name == "count":
                    got = tuple(n % 2 ** 64 for n in got)
                if got != (min(known), max(known)):
                    yield "%s is in %s..%s, not %d..%d" % (name, *got, min(known), max(known))
            elif of.has_min_max:
                yield "%s has a least without one" % name
            if name in ("text", "name"):
                yield from sizes_hold(name, group, group.column(i), known)
        at += group.num_rows


def judge(program, scratch, name, rows, value_type):
    want = wanted(rows, value_type)
    # DuckDB takes the last ones for infinite.
    is_extreme = any(t is not None and abs(t) == MOST for t in want["time"])
    wrong = []
    for kind in ("arrow", "parquet"):
        path = os.path.join(scratch, "frame." + kind)
        with open(path, "wb") as to:
            subprocess.run([program, kind], input="".join(line(r) + "\n" for r in rows).encode(), stdout=to, check=True)
        _, _, got = read(path)
        wrong += ["%s: %s" % (kind, d) for d in itertools.islice(differences(got, want), 3)]
        for reader, second in SECOND[kind].items():
            wrong += ["%s by %s: %s" % (kind, reader, d) for d in itertools.islice(
                differences(second(path), want, is_extreme and reader == "duckdb"), 3)]
    wrong += itertools.islice(limits_hold(path, want), 3)
    print("%s: %d rows%s" % (name, len(rows), "".join("\n    " + w for w in wrong)))
    return bool(wrong)


def no_table(program, scratch):
    """A table that did not come has its columns."""
    wrong = []
    for kind in ("arrow", "parquet"):
        path = os.path.join(scratch, "frame." + kind)
        with open(path, "wb") as to:
            subprocess.run([program, kind, "others"], input=(line(columns(1)[0]) + "\n").encode(), stdout=to, check=True)
        wrong += [got for got in (read(path)[2], *(second(path) for second in SECOND[kind].values())) if got != {"of": []}]
    print("a table that did not come", *wrong)
    return bool(wrong)


def main(program, scratch, seed="1", rounds="20"):
    failed = [no_table(program, scratch)]
    failed += [judge(program, scratch, name, *case) for name, case in hostile().items()]
    for number in range(int(rounds)):
        failed.append(judge(program, scratch, "seed %d" % (int(seed) + number), *by_chance(int(seed) + number)))
    return any(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
