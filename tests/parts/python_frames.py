"""python_frames - the cases of 225-python-frames.sh: each array and each frame is cell
by cell what rows() has.

    python_frames.py CASE
SPDX-License-Identifier: MIT
"""

import math
import sys

import duckdb as engine
import numpy
import pandas
import polars

from poolscope import Store, StoreError

POOL = "acct$pool"
st = Store()


def same(got, wanted):
    assert len(got) == len(wanted), (len(got), len(wanted))
    for number, (a, b) in enumerate(zip(got, wanted)):
        is_nan = isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)
        assert a == b and type(a) is type(b) or is_nan, "row %d: %r, not %r" % (number, a, b)


def whole(series):
    """Of a column of pandas: None, and whole nanoseconds."""
    if isinstance(series.dtype, pandas.CategoricalDtype):
        series = series.astype(object)
    if isinstance(series.dtype, pandas.DatetimeTZDtype):
        assert str(series.dt.tz) == "UTC", series.dtype
    if series.dtype.kind in "mM" or isinstance(series.dtype, pandas.DatetimeTZDtype):
        return [None if pandas.isna(v) else v.value for v in series]
    return [None if v is None or v is pandas.NA or v != v else v for v in series.tolist()]


def compare(make):
    """`make` asks; the same answer in each way."""
    table = make()
    rows = table.rows(ns=True)
    names = [column.name for column in table.schema]
    numpys, frame, arrow, second = table.numpy(), table.pandas(), table.arrow(), table.polars()
    assert list(numpys) == list(frame) == arrow.column_names == second.columns == names
    for column in table.schema:
        is_time = column.type in ("time", "duration")
        wanted = [r[column.name] if column.name not in ("attributes", "labels") else None for r in rows]
        if column.name in ("attributes", "labels"):  # text there
            continue
        array = numpys[column.name]
        values = array.astype("int64").tolist() if is_time else array.tolist()
        if is_time:
            values = [None if v == numpy.iinfo("int64").min else v for v in values]
            assert str(array.dtype) == {"time": "datetime64[ns]", "duration": "timedelta64[ns]"}[column.type]
        elif column.type == "float64":
            same(values, [math.nan if v is None else v for v in wanted])
            values = wanted
        same(values, wanted)
        arrowed = arrow.column(column.name)
        if is_time:
            assert column.type != "time" or arrowed.type.tz == "UTC"
            arrowed = arrowed.cast("int64")
        same(arrowed.to_pylist(), wanted)
        known = [v for v in wanted if v is not None]
        got = [v for v in whole(frame[column.name]) if v is not None]
        same(got if not known or type(got[0]) is type(known[0]) else [type(known[0])(v) for v in got], known)
        series = second[column.name]
        if is_time:
            assert column.type != "time" or series.dtype.time_zone == "UTC"
            series = series.cast(polars.Int64)
        same([str(v) if column.type == "text" and v is not None else v for v in series.to_list()], wanted)
    return rows


def questions():
    answered = 0
    for word in dir(st.stats):
        if word in ("metrics", "nodes", "clocks", "pools", "status", "series"):
            continue
        try:
            getattr(st.stats, word)(POOL)
        except StoreError:
            continue
        compare(lambda: getattr(st.stats, word)(POOL))
        answered += 1
    assert answered >= 4, answered
    compare(lambda: st.phases(POOL, by="node"))
    compare(lambda: st.series(POOL, metric="*", since=1700000000, step="30s"))


def kinds():
    for kind in "event", "span", "sample", "entity", "gap", "phase":
        assert compare(lambda: st.records(kind, POOL))
    compare(lambda: st.events(POOL, clock="corrected"))


def many():
    rows = compare(lambda: st.samples("acct$many"))
    assert len(rows) == 200000
    assert st.samples("acct$many").pandas()["value"].sum() == sum(t * i + 0.5 for t in range(4000) for i in range(50))


def empty():
    table = st.events(POOL, "no:no")
    assert table.pandas().shape == (0, len(table.schema)) == table.polars().shape
    assert table.arrow().num_rows == 0
    assert {len(array) for array in table.numpy().values()} == {0}
    assert table.numpy()["time"].dtype == "datetime64[ns]"


def units():
    table = st.phases(POOL, by="node")
    fields = {f.name: (f.metadata or {}).get(b"unit", b"").decode() or None for f in table.arrow().schema}
    assert fields == {column.name: column.unit for column in table.schema}
    assert fields["sum"] == "s" and table.units == {k: v for k, v in fields.items() if v}, fields


def duckdb():
    table = st.samples("acct$many").arrow()
    connection = engine.connect().register("samples", table)
    got = connection.sql("select metric, max(value), count(*) from samples group by metric").fetchall()
    assert sorted(got) == sorted(("m%d" % i, 3999.0 * i + 0.5, 4000) for i in range(50)), got[:3]


def notebook():
    pandas_html = st.phases(POOL, by="node").pandas()._repr_html_()
    own = st.phases(POOL, by="node")._repr_html_()
    assert pandas_html.count("<tr") == own.count("<tr>")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
