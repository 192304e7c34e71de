# 10,000 directories that crashes could leave of a spool, each opened and
# judged: tests/fault/spool_states.c.  SEED=N repeats a run, STATES=N makes it
# longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
exec "${B:-build}/fault/spool_states" "${STATES:-10000}" ${SEED:+"$SEED"}
