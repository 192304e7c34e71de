# The n-th operation of the disk fails, and the n-th allocation, of spool,
# journal and indexer, for every n: tests/fault/nth.c.
# Of allocations one in EVERY; SEED=N repeats a choice.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
# Where every call has another between it and the library already.
case ${VARIANT:-release} in tsan|valgrind)
	echo "SKIPPED fault/050-nth: with the release and asan programs only"
	exit 0
esac
export EVERY="${EVERY:-10}"
exec "${B:-build}/fault/nth"
