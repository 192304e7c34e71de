# arrow - samples as Arrow, Parquet and CSV, of the same store: rows a second of processor
# time, as a whole and what is left of it without reading the store (--top 1 reads all
# and prints one), peak memory, bytes a row; next to pyarrow, which writes the same table.
#
#   ROWS=2000000 sh tests/bench/arrow.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
PARTITION='acct$many'
need_python frames pandas pyarrow polars duckdb || skip "pip cannot have pandas, pyarrow, polars and duckdb"
# shellcheck source=tests/bench/many_samples.sh
. "$ROOT/tests/bench/many_samples.sh"
"$PARTS/frames/bin/python" - "$ROWS" "$TMP" poolscope-dump -q -p 'acct$many' --kind sample \
	--store "$DIR/store" <<'END'
import os
import subprocess
import sys
import time

rows, folder, dump = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
ROUNDS = 5


def used(*options, to=os.devnull):
    """Seconds of processor time, peak memory in KiB."""
    with open(to, "wb") as file:
        child = subprocess.Popen([*dump, *options], stdout=file)
        _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, options
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def rate(seconds):
    return rows / seconds / 1e6


reading = min(used("--format", "arrow", "--top", "1")[0] for _ in range(ROUNDS))
print("reading the store: %.1f M rows/s" % rate(reading))
for name in ("long", "arrow", "parquet"):
    path = os.path.join(folder, "out." + name)
    seconds, peak = min(used("--format", name, to=path) for _ in range(ROUNDS))
    print("%-8s %5.1f M rows/s, without reading %6.1f, %6d KiB, %5.1f bytes a row" % (
        name, rate(seconds), rate(seconds - reading), peak, os.path.getsize(path) / rows))

import pyarrow  # not earlier: a child's peak is at least what its parent had
import pyarrow.ipc
import pyarrow.parquet

table = pyarrow.ipc.open_stream(os.path.join(folder, "out.arrow")).read_all().unify_dictionaries()


def write_arrow(path):
    with pyarrow.ipc.new_stream(path, table.schema) as to:
        to.write_table(table, 65536)


def write_parquet(path):
    pyarrow.parquet.write_table(table, path, compression="zstd", compression_level=1, row_group_size=131072)


pyarrow.set_cpu_count(1)
for name, write in (("arrow", write_arrow), ("parquet", write_parquet)):
    path = os.path.join(folder, "theirs." + name)
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        write(path)
        seconds.append(time.process_time() - begin)
    print("%-8s %5.1f M rows/s by pyarrow, of a table in memory, %.1f bytes a row" % (
        name, rate(min(seconds)), os.path.getsize(path) / rows))
walls = []
for _ in range(ROUNDS):
    begin = time.monotonic()
    with subprocess.Popen([*dump, "--format", "arrow"], stdout=subprocess.PIPE) as child:
        frame = pyarrow.ipc.open_stream(child.stdout).read_all()
    walls.append(time.monotonic() - begin)
assert frame.num_rows == rows
print("a table of pyarrow from the store in %.3f s" % min(walls))
END
