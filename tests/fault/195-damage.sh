#!/bin/sh
# Stores with damaged pages, bits and ends: no program ends by a signal, what is
# readable is given, what is not is counted.  tests/fault/damage.py does the work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/fault/damaged.sh
. "$(dirname "$0")/damaged.sh"

# Four hours, of which the first two are compacted.
store_hours 0 2
compact_hours
store_hours 2 4
treat_well damage.py break "$DIR/store" "$TMP"
