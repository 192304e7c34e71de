#!/bin/sh
# poolscope-stats stragglers: is the cause that it names the true one, of generated pools
# and of recorded ones?  tests/judge/score.py shares nothing with it.
#
#	POOLS=11	generated pools; of 110 and more, all recordings, too
#	SEED=37		another seed, other pools
#
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
[ "${VARIANT:-release}" = release ] || skip "with the release programs only"
POOLS=${POOLS:-11}
SEED=${SEED:-37}
echo "seed $SEED"

score() {
	/usr/bin/python3 "$ROOT/tests/judge/score.py" "$@" --seed "$SEED" >"$TMP/score" 2>&1
	_status=$?
	cat "$TMP/score"
	return $_status
}

# The long form has the goals; the short one a few of each kind.
set --
if [ "$POOLS" -lt 110 ]; then
	set -- --only
	for kind in cpu memory disk network size places clock; do
		set -- "$@" $kind-00 $kind-10
	done
	expect="wrong=10 disk=0 false=20" # one of eleven may be wrong
else
	expect="right=95 each=90 wrong=2 disk=0 false=20"
fi
check "causes that were planted are named" score planted --pools "$POOLS" --expect "$expect"
check "recorded causes are named" score recorded --expect "right=90 disk=0 false=10" "$@"
check "nobody is named where nothing is wrong" score clean --pools $((POOLS / 4 + 1)) --expect "false=34"
