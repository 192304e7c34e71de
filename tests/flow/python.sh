# python - for tests of the Python module, after lib.sh: a pool, and what programs in
# Python left in it.
#
#	py -c 'import poolscope; ...'      with the module of this variant
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
unset TRACEPARENT POOLSCOPE_SOCKET POOLSCOPE_NODE POOLSCOPE_DISABLE
pool='acct$pool'

if [ ! -e "$B/python/poolscope/_native.abi3.so" ]; then
	fail "the module is built (make python)"
	exit 1
fi
PYTHONPATH=$B/python
PYTHON=${PYTHON:-/usr/bin/python3}
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
case ${VARIANT:-release} in
asan)
	# Python is not instrumented, and frees nothing at its end.
	PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	export ASAN_OPTIONS
	# What Python starts has the library only if it is Python: ps, for one, hangs with it.
	mkdir "$TMP/preloaded"
	printf '#!/bin/sh\nLD_PRELOAD="%s" exec "%s" "$@"\n' "$PRELOAD" "$PYTHON" >"$TMP/preloaded/python"
	chmod +x "$TMP/preloaded/python"
	cat >"$TMP/preloaded/sitecustomize.py" <<-END
		import os, sys
		os.environ.pop("LD_PRELOAD", None)
		sys.executable = "$TMP/preloaded/python"
	END
	PYTHONPATH=$TMP/preloaded:$PYTHONPATH
	;;
tsan)
	echo "SKIPPED: TSan reports what Python, which it does not know, does"
	exit 0
	;;
*) PRELOAD= ;;
esac
py() {
	LD_PRELOAD=$PRELOAD "$PYTHON" "$@"
}
# program NAME: a program in $TMP/NAME from standard input.
program() {
	cat >"$TMP/$1"
}

# shellcheck source=tests/flow/stored.sh
. "$ROOT/tests/flow/stored.sh"
start_pool() {
	start aggregator poolscope-aggregator || exit 1
	start broker poolscope-broker || exit 1
	start agent poolscope-agent --no-samples -p "$pool" -n node1 || exit 1
}
