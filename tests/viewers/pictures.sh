#!/bin/sh
# pictures - every kind of picture of pools of 1, 2, 60, 1,000 and 10,000 nodes, to look
# at.  By hand (make pictures): what a program can judge is tests/flow/071-pictures.sh.
#
#	sh tests/viewers/pictures.sh [DIR [NODES...]]	the pictures go there (build/pictures)
#
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
. "$(dirname "$0")/pools.sh"
out=${1:-build/pictures}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 1 2 60 1000 10000

pools_start
for nodes in "$@"; do
	pools_send "$nodes"
	mkdir -p "$out/$nodes"
	pools_plot "$nodes" "$out/$nodes" png
done
echo "look at $out/*/*.png"
