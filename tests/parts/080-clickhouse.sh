#!/bin/sh
# Blocks of the format Native in a real ClickHouse: what it stores is what was
# written, bit by bit, judged by its own functions and in another format; what
# it answers is read; an insert that ends early stores nothing.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
native=$B/parts/clickhouse_native
SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

rows() {
	/usr/bin/python3 "$ROOT/tests/parts/clickhouse_rows.py" "$@"
}
# converted write|read: rows to a block, an answer to rows.
converted() {
	"$native" "$1" id UInt64 a UInt8 b UInt16 c UInt32 d UInt64 e Int32 f Int64 g Float64 \
		h String i 'Array(UInt8)' j 'Array(UInt64)' k 'Array(Float64)' l 'Array(String)'
}
asked_native() {
	query "$1 FORMAT Native" >"$TMP/answer" && converted read <"$TMP/answer"
}

serve_clickhouse ch || exit 1
query "CREATE TABLE t (id UInt64, a UInt8, b UInt16, c UInt32, d UInt64, e Int32, f Int64, g Float64,
	h String, i Array(UInt8), j Array(UInt64), k Array(Float64), l Array(String))
	ENGINE = MergeTree ORDER BY id" || exit 1

# ---- there, and back ----
rows make "$SEED" 2000 >"$TMP/rows" && converted write <"$TMP/rows" >"$TMP/block" || exit 1
check "a block of every type is stored" query "INSERT INTO t FORMAT Native" "@$TMP/block"
query "SELECT $(rows sql) FROM t ORDER BY id FORMAT TSVRaw" >"$TMP/judged"
check "the server has each bit of it by its own functions" cmp "$TMP/rows" "$TMP/judged"
query "SELECT * FROM t ORDER BY id FORMAT RowBinary" | rows rowbinary >"$TMP/binary"
check "and in another format" cmp "$TMP/rows" "$TMP/binary"
asked_native "SELECT * FROM t ORDER BY id" >"$TMP/read"
check "its answer is read back, each bit" cmp "$TMP/rows" "$TMP/read"
# What was stored does not only look right: it has the meaning.
check_text "the server sees zeros, infinities, NaNs and 2^63 where they are" \
	"0 -0 inf -inf nan nan nan nan nan 9223372036854775808 -9223372036854775808 1.5" \
	"$(query "SELECT toString(g) FROM t WHERE id < 14 AND id NOT IN (11, 12) ORDER BY id" |
		tr '\n' ' ' | sed 's/9223372036854776000/9223372036854775808/g; s/ $//')"

# Many blocks in one answer, of a size that is not ours to choose.
asked_native "SELECT * FROM t ORDER BY id SETTINGS max_block_size = 7" >"$TMP/read"
check "so are many blocks" cmp "$TMP/rows" "$TMP/read"
check "... and there were many" test "$(grep -aoc UInt16 "$TMP/answer")" -gt 100
check_text "an answer without rows has none" "" "$(asked_native "SELECT * FROM t WHERE id > 5000" 2>&1)"

# ---- one insert is one part ----
query "CREATE TABLE most (n UInt32) ENGINE = MergeTree ORDER BY n" || exit 1
"$native" most >"$TMP/most"
check "the most rows of a block are stored" query "INSERT INTO most FORMAT Native" "@$TMP/most"
check_text "... as one part" "1 1048449 0" \
	"$(query "SELECT count(), sum(rows), max(level) FROM system.parts
		WHERE table = 'most' AND active FORMAT TSV" | tr '\t' ' ')"
query "SELECT n FROM most ORDER BY n FORMAT Native" | "$native" read n UInt32 >"$TMP/read"
seq 0 1048448 >"$TMP/numbers"
check "... and read" cmp "$TMP/numbers" "$TMP/read"

# ---- an insert that ends early ----
query "CREATE TABLE cut AS t ENGINE = MergeTree ORDER BY id" || exit 1
rows cuts "$CLICKHOUSE/?query=INSERT%20INTO%20cut%20FORMAT%20Native" "$TMP/block" >"$TMP/cuts"
check_text "a body that is cut in 8 places, in two ways, is refused" 16 "$(grep -c refused "$TMP/cuts")"
cat "$TMP/cuts"
check_text "and nothing of it is stored" 0 "$(query "SELECT count() FROM cut")"
check "the whole of it is" query "INSERT INTO cut FORMAT Native" "@$TMP/block"
check_text "... once" 2000 "$(query "SELECT count() FROM cut")"

# ---- answers of another shape ----
shape() {
	query "$1 FORMAT Native" >"$TMP/answer"
	shift
	check_status 1 "$@"
}
other() {
	"$native" read "$@" <"$TMP/answer"
}
shape "SELECT toUInt32(1) AS n" "another type is refused" other n UInt64
check_printed "... by its name" 'column n of the answer is of type UInt32, not UInt64'
shape "SELECT toUInt64(1) AS m" "another name too" other n UInt64
check_printed "... by its name" 'column 1 of the answer is m, not n'
shape "SELECT toUInt64(1) AS n, 2 AS m" "and one column more" other n UInt64
check_printed "... by their number" 'a block of the answer has 2 columns, not 1'
shape "SELECT toLowCardinality('x') AS n" "a dictionary is refused" other n String
check_printed "... by its name" 'column n of the answer is of type LowCardinality(String), not String'
check_text "and read when the query casts it" "1:78" \
	"$(query "SELECT [CAST(toLowCardinality('x') AS String)] AS n FORMAT Native" | "$native" read n 'Array(String)')"
stop ch
check_text "the server ended by itself" 0 "$STATUS"
