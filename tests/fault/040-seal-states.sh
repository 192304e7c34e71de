#!/bin/sh
# 500 directories that crashes could leave of tables whose hours are being
# sealed, each opened and judged: tests/fault/seal_states.c.  SEED=N repeats a
# run, STATES=N makes it longer.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
states=500
[ "${VARIANT:-release}" != asan ] || states=100
exec "${B:-build}/fault/seal_states" "${STATES:-$states}" ${SEED:+"$SEED"}
