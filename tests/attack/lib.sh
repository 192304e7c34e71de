# lib - what the attacks begin with: that of the flow tests, and a pool with
# doors of TCP.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck source=tests/flow/lib.sh
. "$ROOT/tests/flow/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

# stranger CASE [ARGUMENT...]: what it says is in $TMP/out.
stranger() {
	TMP=$TMP SLOW=$SLOW SIDE_DOOR=ipc://$DIR/run/broker.ipc \
		/usr/bin/python3 "$ROOT/tests/attack/strangers.py" "$@"
}

# attack NAME CASE [ARGUMENT...]: check, and show the figures.
attack() {
	_attack=$1
	shift
	check "$_attack" stranger "$@"
	sed 's/^/# /' "$TMP/out"
}

# limited NAME FILES: a program that may have so many files, as $TMP/NAME.
limited() {
	printf '#!/bin/sh\nexec prlimit --nofile=%s:%s %s "$@"\n' "$2" "$2" \
		"$B/bin/$1" >"$TMP/$1"
	chmod +x "$TMP/$1"
}
