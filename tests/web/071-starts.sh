#!/bin/sh
# Which start of a pool the page shows.
#
# acct$twice started at 22:13:20 with three nodes that prepared for 10, 20 and 30 s, and 15 min
# later, at 22:28:20, with two that prepared for 4 and 6 s.  Without a choice it is the second:
# 2 preparations, 10 s together.  Of the first they are 3 and 60 s, of all 5 and 70 s.
#
# acct$once started once, with two nodes: there is nothing to choose.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
# host NAME BEGIN SECONDS
host() {
	echo "event $2 $1 nodeprep:start"
	echo "event $(($2 + $3)) $1 nodeprep:end"
	echo "event $(($2 + $3)) $1 cascade:start"
	echo "event $(($2 + $3 + 5)) $1 cascade:gr-done"
}
PARTITION='acct$twice'
{
	host n1 0 10
	host n2 0 20
	host n3 0 30
	host n1 900 4
	host n2 900 6
} | records
PARTITION='acct$once'
{
	host n1 0 10
	host n2 0 20
} | records
page_start
page_judge starts.mjs ${SHOTS:+"$SHOTS"}
stop web
