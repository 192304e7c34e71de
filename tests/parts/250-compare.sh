#!/bin/sh
# The limits of comparisons are those of scipy, and of R where it is installed.
#
#	SEED=7 ROUNDS=1000 sh tests/parts/250-compare.sh
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"

need_python scipy scipy || skip "pip cannot have scipy"
rscript=$(command -v Rscript) || echo "    R is not installed: scipy judges alone"
# shellcheck disable=SC2086 # none or one word
check "limits, estimates and likeness" "$PARTS/scipy/bin/python" "$ROOT/tests/parts/compare_judge.py" \
	"$B/parts/compare_numbers" "${SEED:-1}" "${ROUNDS:-400}" $rscript
sed 's/^/    /' "$TMP/out"
