#!/bin/sh
# Every kind of picture, of 1, 2, 60 and 61 nodes with names as in cloud pools: no two
# labels of an axis or a legend are equal, no text lies on another or reaches out of the
# picture, and something is drawn.  tests/viewers/pictures.sh draws the same to look at.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/viewers/pools.sh
. "$ROOT/tests/viewers/pools.sh"

pools_start
for nodes in 1 2 60 61; do
	pools_send $nodes
	mkdir "$TMP/$nodes"
	pools_plot $nodes "$TMP/$nodes" svg
	for picture in "$TMP/$nodes"/*.svg; do
		check "$nodes: $(basename "$picture" .svg) is legible" \
			/usr/bin/python3 "$ROOT/tests/flow/svg_judge.py" "$picture"
	done
done
