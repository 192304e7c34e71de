#!/bin/sh
# Which metrics changed: of n1 the depth was 1, 5 and 1, so it did though it ended as it began; the
# limit was 7 three times, and did not; n2's only depth is 3.  Of both nodes together the depth
# was 1 to 5.  A counter that rises by 10 a second all the time has one rate: it did not change.
# Of a metric without a value it is unknown.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate
records <<-'END'
	group n1 queue app.depth:{thing}:gauge app.limit:{thing}:gauge app.lost:{thing}:gauge
	group n1 work poolscope.boot:1:gauge app.done:{thing}:counter
	group n2 queue app.depth:{thing}:gauge app.limit:{thing}:gauge app.lost:{thing}:gauge
	sample 0 n1 queue 1 7 -
	sample 10 n1 queue 5 7 -
	sample 20 n1 queue 1 7 -
	sample 0 n1 work 1 0
	sample 10 n1 work 1 100
	sample 20 n1 work 1 200
	sample 0 n2 queue 3 7 -
END
answer "of each node" "app.depth,n1,true
app.depth,n2,false
app.limit,n1,false
app.limit,n2,false
app.done,n1,false" columns metric,node,changed sh -c \
	'poolscope-stats samples --by node -m "app.*" --format csv | grep -v app.lost'
answer "of all" "app.depth,true
app.limit,false
app.done,false" columns metric,changed sh -c 'poolscope-stats samples -m "app.*" --format csv | grep -v app.lost'
stop aggregator
