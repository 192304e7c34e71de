#!/bin/sh
# A store read from Python as arrays and data frames: NumPy, pyarrow, pandas, polars and
# DuckDB have what rows() has, which tests/flow/288 compares with JSON.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
need_python frames pandas pyarrow polars duckdb || skip "pip cannot have pandas, pyarrow, polars and duckdb"
PYTHON=$PARTS/frames/bin/python
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"

cp -r "$ROOT/deploy/models" "$TMP/models"
model work <<-'END'
	phase step {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
/usr/bin/python3 - <<'END' | records
print("group n1 room temperature:Cel:gauge bytes:By:counter")
for i in range(1, 8):
    node = "n%d" % i
    print("event %d.123456789 %s work:start" % (i, node))
    if i != 5:
        print("event %d %s work:end" % (10 * i, node), "x=1.5 text=Zürich,\"a\"")
    print("span", i, "%d.000000001" % (100 * i), node, "träck", "späne", "exit=%d" % (i % 3))
    print("entity", node, "image", "ubuntu-%d" % i, "size=%d" % (i << 40))
    print("gap", 5, 6 + i, node, "samples", "lost", 3 * i)
    for t in range(0, 300, 10):
        print("sample", t, node, "room", ["1.5", "-", "inf", t][t // 10 % 4], 100 * t)
END
/usr/bin/python3 - >"$TMP/many" <<'END'
print("group n1 room", *["m%d:1:gauge" % i for i in range(50)])
for t in range(4000):
    print("sample", t, "n%d" % (t // 40), "room", *[t * i + .5 for i in range(50)])
    if t % 200 == 0:
        print("----")
END
PARTITION='acct$many' records <"$TMP/many"
for case in questions kinds many empty units duckdb notebook; do
	check "frames: $case" py "$ROOT/tests/parts/python_frames.py" $case
done
check "the lines of the page" py "$ROOT/tests/flow/python_store.py" page
