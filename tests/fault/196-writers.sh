#!/bin/sh
# Tables with damaged keys, to which an aggregator goes on writing: no program ends by a
# signal, no line is lost without a word.  tests/fault/damaged_writer.py does the work.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/fault/damaged.sh
. "$(dirname "$0")/damaged.sh"

# Three hours, of which the first is compacted; then the third again, and two more.
store_hours 0 1
compact_hours
store_hours 1 3
cp -r "$DIR/store/tables" "$TMP/before"
store_hours 2 5
treat_well damaged_writer.py "$TMP/before" "$DIR/store" "$TMP/models" "$TMP"
