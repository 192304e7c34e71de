#!/bin/sh
# Stores in which a disk has lost a write, so that a page is an older version of
# itself: verify notices.  tests/fault/damage.py does the work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/fault/damaged.sh
. "$(dirname "$0")/damaged.sh"

store_hours 0 2
compact_hours
store_hours 2 3
treat_well damage.py stale "$DIR/store" "$TMP"
