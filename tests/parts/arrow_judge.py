"""arrow_judge - Arrow streams and Parquet files say what JSON lines say of the same question.

    arrow_judge.py answer FILE JSONL [TABLE]    the rows of a table, cell by cell
    arrow_judge.py records FILE JSONL           dump --kind KIND, both
    arrow_judge.py samples FILE CSV             dump --kind sample, --format long
    arrow_judge.py second FILE                  others read the same as pyarrow: polars, and of
                                                Parquet DuckDB
    arrow_judge.py batches FILE ROWS            no batch, or group of rows, has more rows
    arrow_judge.py serve PORT                   each of these by HTTP, its words in the body with a
                                                tab behind each: to import what it needs takes
                                                longer than to judge

FILE ends in .arrow or .parquet.  It is read by pyarrow, which also validates every value, and
the rest by python3.  Prints rows and columns; the first differences, and then the exit status
is 1.
SPDX-License-Identifier: MIT
"""
import csv
import contextlib
import datetime
import decimal
import http.server
import io
import json
import math
import sys
import traceback

import duckdb
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

NAN = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def is_parquet(path):
    return path.endswith(".parquet")


def read(path):
    """The table, what it is about, and its cells by column."""
    table = pyarrow.parquet.read_table(path) if is_parquet(path) else pyarrow.ipc.open_stream(path).read_all()
    table.validate(full=True)
    about = json.loads(table.schema.metadata[b"poolscope"])
    return table, about, {name: cells(table.column(name)) for name in table.column_names}


def time_ns(text):
    """2023-11-14T22:13:20.123456789Z, exactly."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(whole + "+00:00")
    return int(at.timestamp()) * 10 ** 9 + int((fraction + "000000000")[:9])


def cells(column):
    """None, or an integer of times, or what python has for it."""
    kind = column.type
    if pyarrow.types.is_timestamp(kind):
        assert kind.unit == "ns" and kind.tz == "UTC", kind
        return column.cast(pyarrow.int64()).to_pylist()
    if pyarrow.types.is_duration(kind):
        assert kind.unit == "ns", kind
        return column.cast(pyarrow.int64()).to_pylist()
    return column.to_pylist()


def wanted(kind, cell):
    """The cell of JSON in the type of the column."""
    if cell is None:
        return None
    if pyarrow.types.is_timestamp(kind):
        return time_ns(cell)
    if pyarrow.types.is_duration(kind):
        return int(decimal.Decimal(cell) * 10 ** 9)
    if isinstance(cell, dict):
        cell = NAN[cell["$float"]]
    if pyarrow.types.is_floating(kind):
        return float(cell)
    if pyarrow.types.is_integer(kind):
        return int(cell)
    if pyarrow.types.is_string(kind) and not isinstance(cell, str):
        return {True: "true", False: "false"}.get(cell, str(cell)) if isinstance(cell, bool) else str(cell)
    return cell


def same(a, b):
    return a == b and type(a) is type(b) or isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)


def compare(table, rows, keys):
    """`keys`: the member of a row that a column is of."""
    differences = []
    if table.num_rows != len(rows):
        differences.append("%d rows, not %d" % (table.num_rows, len(rows)))
    for name in table.column_names:
        kind = table.schema.field(name).type
        got = cells(table.column(name))
        for number, (a, row) in enumerate(zip(got, rows)):
            b = wanted(kind, row[keys(name)])
            if not same(a, b):
                differences.append("row %d, %s (%s): %r, not %r" % (number, name, kind, a, b))
    nulls = sum(table.column(n).null_count for n in table.column_names)
    print("%d rows, %d columns, %d nulls" % (table.num_rows, table.num_columns, nulls))
    print(*differences[:5], sep="\n")
    return bool(differences)


def answer(path, lines, name=None):
    table, about, _ = read(path)
    records = [json.loads(line, parse_float=decimal.Decimal) for line in open(lines)]
    head, end = records[0]["poolscope"], records[-1]["poolscope"]
    rows = [r for r in records[1:-1] if r.get("table") == name] if name else [
        r for r in records[1:-1] if "table" not in r]
    wrong = compare(table, rows, lambda key: key)
    if rows and set(rows[0]) - {"table"} != set(table.column_names):
        print("columns", table.column_names, "not", list(rows[0]))
        wrong = True
    for key, value in list(head.items()) + [("notes", end["notes"]), ("complete", end["complete"])]:
        got = json.loads(json.dumps(about.get(key)), parse_float=decimal.Decimal)
        if got != value and not key.startswith(("age", "received")):
            print(key, got, "not", value)
            wrong = True
    return wrong


def records(path, lines):
    """The typed columns of a kind: times are in the members that end in _ns."""
    table, _, _ = read(path)
    rows = []
    for line in open(lines):
        row = json.loads(line)
        rows.append(row)
    if not rows:
        return table.num_rows > 0
    kind = rows[0]["kind"]
    names = {"event": {"time": "time", "key": "uuid"},
             "span": {"time": "begin", "source": "track", "key": "category"},
             "gap": {"time": "from", "end": "to", "source": "class", "name": "reason"},
             "entity": {"source": "entity", "name": "id", "attributes": "properties"},
             "phase": {"time": "begin", "source": "model", "name": "phase"}}[kind]
    made = []
    for row in rows:
        of = dict(row)
        for name in table.column_names:
            key = names.get(name, name)
            type_of = table.schema.field(name).type
            if name == "received":
                key = "receive"
            if name == "attributes":
                of[name] = row.get(key)
            elif pyarrow.types.is_timestamp(type_of) or pyarrow.types.is_duration(type_of):
                of[name] = row[key + "_ns"]
            else:
                of[name] = row.get(key) if row.get(key) != "" else None
        made.append(of)
    wrong = 0
    for name in table.column_names:
        for got, of in zip(cells(table.column(name)), made):
            if name == "attributes" and got is not None:
                got = json.loads(got)
            if got != of[name] or isinstance(got, bool) != isinstance(of[name], bool):
                wrong += 1
                if wrong < 5:
                    print(name, repr(got), "not", repr(of[name]))
    print("%d rows, %d columns" % (table.num_rows, table.num_columns))
    return wrong > 0 or table.num_rows != len(rows)


def samples(path, text):
    table, _, _ = read(path)
    rows = list(csv.DictReader(open(text, newline="")))
    wrong = table.num_rows != len(rows)
    for name in table.column_names:
        for got, row in zip(cells(table.column(name)), rows):
            is_text = name not in ("time", "value")
            cell = row["time_ns" if name == "time" else name]
            if is_text and cell[:1] == "'":
                cell = cell[1:]
            want = None if cell == "" else cell if is_text else int(cell) if name == "time" else float(cell)
            if not same(got, want):
                print(name, repr(got), "not", repr(want))
                return True
    print("%d rows" % len(rows))
    return wrong


def of_polars(frame):
    times = [n for n in frame.columns if frame[n].dtype in (polars.Datetime, polars.Duration)]
    return frame.with_columns(polars.col(times).cast(polars.Int64)).to_dict(as_series=False)


def of_duckdb(path):
    """It has no type for durations of nanoseconds: they are whole numbers."""
    rows = duckdb.read_parquet(path)
    of = ['epoch_ns("%s")' % n if "TIMESTAMP" in str(t) else '"%s"' % n for n, t in zip(rows.columns, rows.types)]
    made = rows.project(", ".join(of)).fetchall()
    return {name: [row[i] for row in made] for i, name in enumerate(rows.columns)}


SECOND = {"arrow": {"polars": lambda path: of_polars(polars.read_ipc_stream(open(path, "rb").read()))},
          "parquet": {"polars": lambda path: of_polars(polars.read_parquet(path)), "duckdb": of_duckdb}}


def second(path):
    table, _, wanted_cells = read(path)
    for name, reader in SECOND["parquet" if is_parquet(path) else "arrow"].items():
        got = reader(path)
        if list(got) != table.column_names:
            print(name, "has columns", list(got), "not", table.column_names)
            return True
        for column, cells_of in got.items():
            different = [(a, b) for a, b in zip(cells_of, wanted_cells[column]) if not same(a, b)]
            if different or len(cells_of) != table.num_rows:
                print(name, column, len(cells_of), "rows,", different[:3])
                return True
    print("%d rows" % table.num_rows)
    return False


def batches(path, rows):
    if is_parquet(path):
        meta = pyarrow.parquet.ParquetFile(path).metadata
        sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    else:
        sizes = [batch.num_rows for batch in pyarrow.ipc.open_stream(path)]
    print(len(sizes), "batches of at most", max(sizes), "rows")
    return len(sizes) < 2 or max(sizes) > int(rows)


class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        words = self.rfile.read(int(self.headers["Content-Length"])).decode().split("\t")[:-1]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                wrong = globals()[words[0]](*words[1:])
            except Exception:
                wrong = True
                traceback.print_exc(file=out)
        body = out.getvalue().encode()
        self.send_response(500 if wrong else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(port):
    http.server.HTTPServer(("127.0.0.1", int(port)), Judge).serve_forever()


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
