#!/bin/sh
# Commands that delete many rows, and one that reads to and fro, on stores of which one
# page is zeros: none ends by a signal or hangs.  tests/fault/damage.py does the work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/fault/damaged.sh
. "$(dirname "$0")/damaged.sh"

# Four hours, of which the first two are compacted.
store_hours 0 2
compact_hours
store_hours 2 4
treat_well damage.py zero "$DIR/store" "$TMP"
