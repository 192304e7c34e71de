#!/bin/sh
# 10,000 directories that crashes could leave of a journal, each opened and
# judged: tests/fault/store_states.c.  SEED=N repeats a run, STATES=N makes it
# longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
exec "${B:-build}/fault/store_states" "${STATES:-10000}" ${SEED:+"$SEED"}
