# upload - result files of benchmarks into the store, acknowledged and moved to
# the archive: one instance, and four that share the work.  The older uploader
# took 1.97 s and 174 MB for as much, into memory.
#
#   RUNS=3 FILES=10000 sh tests/bench/upload.sh
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
poolscope up >/dev/null
/usr/bin/python3 tests/bench/upload.py "$TMP" "$RUNS" "${FILES:-10000}"
