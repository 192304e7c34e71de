#!/bin/sh
# A node emitted work:start and job:finished, and reported metric groups load and rack/fan.
#
# "work:strt" matches no event: work:start is the nearest.  "rck/fan" matches no
# group: rack/fan is the nearest.  The same from a node that has only load: nothing is near.
# A partition acct$pol does not exist: acct$pool is the nearest.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END_OF_RECORDS'
	event 100 n1 work:start
	event 160 n1 job:finished
	group n1 load poolscope.boot:1:gauge load.time:cs:counter
	group n1 rack/fan poolscope.boot:1:gauge rack.fan:By:counter
	group n2 load poolscope.boot:1:gauge load.time:cs:counter
	sample 100 n1 load 7 1
	sample 110 n1 rack/fan 7 1
	sample 120 n2 load 7 1
END_OF_RECORDS

# upload WHAT ARGUMENT...: to a service that is not there, which is not asked when nothing matches.
upload() {
	poolscope-upload "$@" --target http:http://127.0.0.1:9/in
}
check "an event that does not exist" upload events --name work:strt
check_printed "... is answered with the nearest" 'no matching events of partition acct$pool in .*; did you mean work:start?$'
check "... in a dry run, too" upload events --name work:strt --dry-run
check_printed "... with the same" 'did you mean work:start?$'
check "... not of a time without it" upload events --name work:strt --from "$(at 150)"
check_text "... of which only job:finished is known" 0 "$(grep -c 'work:start' "$TMP/out")"
check "a group that does not exist" upload samples --name rck/fan
check_printed "... is answered with the nearest" 'no matching samples of partition acct$pool in .*; did you mean rack/fan?$'
check "... on a node without it" upload samples --name rck/fan -n n2
check_text "... with none" 0 "$(grep -c 'did you mean' "$TMP/out")"
check "a partition that does not exist" upload events -p 'acct$pol'
check_printed "... is answered with the nearest" 'no events: .*there is no partition acct$pol; did you mean acct$pool?$'
check "quietly" upload events -q --name work:strt
check_text "... nothing" "" "$(cat "$TMP/out")"
stop aggregator
