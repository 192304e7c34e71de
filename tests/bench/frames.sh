# frames - samples of a store as a pandas frame, the whole call; with it what a user did
# before: the JSON lines of poolscope-dump into a frame.
#
#   ROWS=2000000 sh tests/bench/frames.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
need_python frames pandas pyarrow polars duckdb || skip "pip cannot have pandas, pyarrow, polars and duckdb"
make -s python B="${B#"$ROOT/"}"
export PYTHONPATH="$B/python" PYTHONDONTWRITEBYTECODE=1
# shellcheck source=tests/bench/many_samples.sh
. "$ROOT/tests/bench/many_samples.sh"
"$PARTS/frames/bin/python" - "$ROWS" <<'END'
import io, json, subprocess, sys, time
import pandas, polars, pyarrow
from poolscope import Store

POOL, rows = "acct$pool", int(sys.argv[1])
st = Store()
st.samples(POOL, top=1).pandas()  # imports


def lines():
    dumped = subprocess.run(["poolscope-dump", "-p", POOL, "--kind", "sample"], check=True, stdout=subprocess.PIPE)
    frame = pandas.DataFrame([json.loads(line) for line in dumped.stdout.splitlines()])
    return frame.explode("values")


ways = {
    "pandas": lambda: st.samples(POOL).pandas(),
    "polars": lambda: st.samples(POOL).polars(),
    "numpy": lambda: st.samples(POOL).numpy()["value"],
    "jsonl": lines,
}
for name, way in ways.items():
    best = 1e9
    for _ in range(1 if name == "jsonl" else 5):
        began = time.perf_counter()
        made = way()
        best = min(best, time.perf_counter() - began)
        assert len(made) == rows, len(made)
    print("%-7s %.2f s for %d samples%s" % (name, best, rows, " (goal 0.25)" if name == "pandas" else ""))
END
