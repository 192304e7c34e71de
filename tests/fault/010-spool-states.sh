# 5,000 directories that crashes could leave of a spool, each opened and
# judged: tests/fault/spool_states.c.  SEED=N repeats a run, STATES=N makes it
# longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
# A fork costs much more with the sanitizers' shadow memory.
states=5000
[ "${VARIANT:-release}" != asan ] || states=1500
exec "${B:-build}/fault/spool_states" "${STATES:-$states}" ${SEED:+"$SEED"}
