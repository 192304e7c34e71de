#!/bin/sh
# Cells that no record has, as Arrow and Parquet, read by pyarrow, polars and DuckDB.
#
#   SEED=7 ROUNDS=1000 sh tests/parts/221-frames.sh
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"

need_python frames pandas pyarrow polars duckdb || skip "pip cannot have pandas, pyarrow, polars and duckdb"
check "hostile cells" "$PARTS/frames/bin/python" "$ROOT/tests/parts/frame_cells.py" "$B/parts/frame_cells" "$TMP" \
	"${SEED:-1}" "${ROUNDS:-20}"
sed 's/^/    /' "$TMP/out"
