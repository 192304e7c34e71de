#!/bin/sh
# The detector of changes and Apache Otava, on the same series: never fewer finds where it has
# no more false alarms.
#
#	SEED=7 ROUNDS=1000 sh tests/parts/255-change-points.sh
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"

need_python otava apache-otava || skip "pip cannot have apache-otava"
check "ours finds no less" "$PARTS/otava/bin/python" "$ROOT/tests/parts/change_points_otava.py" "$B/parts/change_points_of" \
	"${SEED:-1}" "${ROUNDS:-300}"
sed 's/^/    /' "$TMP/out"
