#!/bin/sh
# A file that has no lines (compressed, binary, UTF-16) is refused with one sentence,
# by every format of lines, from a file and from standard input; nothing is stored.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

rows() { printf '{"PartitionKey":"acct$p","RowKey":"%s","Event":"a:b","NodeId":"n1"}\n' 1700000001 1700000002; }
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
rows >"$TMP/rows"
gzip -c "$TMP/rows" >"$TMP/gzip"
xz -c "$TMP/rows" >"$TMP/xz"
/usr/bin/python3 -c 'import sys
rows = open(sys.argv[1], "rb").read()
open(sys.argv[1] + "16", "wb").write(rows.decode().encode("utf-16"))
open(sys.argv[1] + "0", "wb").write(bytes(range(256)) * 400)' "$TMP/rows"
# refused FILE PATTERN
refused() {
	for format in cascade emits records perf; do
		check_status 1 "$1 as $format" poolscope-import -p 'acct$p' $format "$TMP/$1"
		check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
		check_printed "... that says why" "$TMP/$1: .*$2"
	done
	check_status 1 "$1 from standard input" sh -c 'poolscope-import cascade - <"$1"' sh "$TMP/$1"
	check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
}
refused gzip "compressed with gzip.*gunzip"
refused xz "compressed with xz.*unxz"
refused rows0 "is binary"
refused rows16 "is binary"
check "what is text is imported" poolscope-import cascade "$TMP/rows"
check_printed "... all of it, and nothing was before" "^2 events, 0 bad lines$"
: >"$TMP/empty"
check "so is nothing" poolscope-import cascade "$TMP/empty"
stop broker
stop aggregator
