#!/bin/sh
# 500 directories that crashes could leave of tables whose hours are being
# compacted, each opened and judged: tests/fault/compact_states.c.  SEED=N repeats a
# run, SEALS=N makes it longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
exec "${B:-build}/fault/compact_states" "${SEALS:-500}" ${SEED:+"$SEED"}
