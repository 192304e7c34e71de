#!/bin/sh
# A set-uid program that records with libpoolscope: its caller cannot send its records to
# a socket of his own, or choose their names, by variables.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/flow/lib.sh
. "$ROOT/tests/flow/lib.sh"

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	echo "SKIPPED: needs root and setpriv"
	exit 0
fi
cat >"$TMP/tool.c" <<'END'
#include "agents/client/poolscope.h"

int
main(void)
{
	if (poolscope_open(0) != 0)
		return 1;
	poolscope_event("tool", "step", 0, 0);
	poolscope_flush(1000000000);
	poolscope_close();
	return 0;
}
END
case ${VARIANT:-release} in
asan) set -- -fsanitize=address,undefined ;;
tsan) set -- -fsanitize=thread ;;
*) set -- ;;
esac
check "a program with the library" cc "$@" -I"$ROOT" -o "$TMP/tool" "$TMP/tool.c" "$B/libpoolscope.a" -pthread -lm
chmod 755 "$TMP"
# heard FILE: the caller's socket, and whether somebody connects to it.
cat >"$TMP/hear.py" <<'END'
import os
import socket
import subprocess
import sys

s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
s.listen(1)
s.settimeout(0)
status = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", sys.argv[2]], timeout=60,
                        env={**os.environ, "POOLSCOPE_SOCKET": sys.argv[1], "POOLSCOPE_DIR": sys.argv[1] + ".d"}).returncode
try:
    s.accept()
    print("heard", status)
except BlockingIOError:
    print("nothing", status)
END
chmod 755 "$TMP/tool"
check_text "a program of the caller uses his socket" "heard 0" "$(python3 "$TMP/hear.py" "$TMP/one" "$TMP/tool")"
chmod 4755 "$TMP/tool"
check_text "a set-uid one does not" "nothing 0" "$(python3 "$TMP/hear.py" "$TMP/two" "$TMP/tool")"
