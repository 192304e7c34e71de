#!/bin/sh
# Several brokers, in place of each other and behind each other: brokers.py.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$ROOT/tests/flow/brokers.py" \
	>"$TMP/harness" 2>&1
cat "$TMP/harness"
PASSED=$(grep -c '^ok - ' "$TMP/harness")
FAILED=$(grep -c '^not ok - ' "$TMP/harness")
[ "$FAILED" -gt 0 ] || check "the harness ended well" \
	grep -q '^[0-9]* passed, 0 failed$' "$TMP/harness"
