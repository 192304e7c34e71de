# 5,000 directories that crashes could leave of a fallback queue and a spool,
# each taken up and judged: tests/fault/fallback_states.c.  SEED=N repeats a run,
# STATES=N makes it longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
exec "${B:-build}/fault/fallback_states" "${STATES:-5000}" ${SEED:+"$SEED"}
