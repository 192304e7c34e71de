# lib - what the attacks begin with: that of the flow tests, and a pool with
# TCP listeners.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck source=tests/flow/lib.sh
. "$ROOT/tests/flow/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"

# stranger CASE [ARGUMENT...]: what it says is in $TMP/out.
stranger() {
	TMP=$TMP SLOW=$SLOW LOCAL_LISTENER=ipc://$DIR/run/broker.ipc \
		/usr/bin/python3 "$ROOT/tests/attack/strangers.py" "$@"
}

# attack NAME CASE [ARGUMENT...]: check, and show the figures.
attack() {
	_attack=$1
	shift
	check "$_attack" stranger "$@"
	sed 's/^/# /' "$TMP/out"
}

# few_files NAME FILES: a program with a limit of open files, as $TMP/NAME.
few_files() {
	printf '#!/bin/sh\nexec prlimit --nofile=%s:%s %s "$@"\n' "$2" "$2" \
		"$B/bin/$1" >"$TMP/$1"
	chmod +x "$TMP/$1"
}

# keyed WHAT ARGUMENT...: a peer of tests/attack/keyed.py.
keyed() {
	_keyed=$1
	shift
	check "$_keyed" env TMP="$TMP" SLOW="$SLOW" /usr/bin/python3 \
		"$ROOT/tests/attack/keyed.py" "$@"
	sed 's/^/# /' "$TMP/out"
}
