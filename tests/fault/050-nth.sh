# The n-th operation of the disk fails, and the n-th allocation, of spool,
# journal and fold, for every n: tests/fault/nth.c.
# Of allocations one in EVERY; SEED=N repeats a choice.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
export EVERY="${EVERY:-10}"
exec "${B:-build}/fault/nth"
