#!/bin/sh
# When a pool would have been ready, had something been another.  Seconds after the start; one
# pull of an image at once; resources end after what is inside:
#
#	z	prepared 0-3, resources 3-62: pulls redis 49-60
#	x	prepared 1-3, resources 3-30: pulls redis 5-25
#	y	prepared 1-3, resources 3-50: pulls redis 27-47
#
# It is recorded as ready at 62.  All could have pulled from 3 on; x began 2 s later, y 2 s
# after x had ended, z 2 s after y, and these pauses stay.  The resources end 5 s (x), 3 s (y)
# and 2 s (z) after the pull.
#
#	two places	x 5-25 and y 5-25; z has a place at 25: 27-38, ready at 40.  At worst
#			two at once are half as fast each: x, y 5-45, z 47-69, ready at 71.
#	half a pull	x 5-15, y 17-27, z 29-34.5, ready at 36.5
#	without x	y 5-25, z 27-38: ready at 40
#	z begins at 60	prepared 60-63, pulls 65-76: ready at 78
#	x begins at 0	a second earlier, and so are all pulls: ready at 61
#	two changes	without x, and half a pull: y 5-15, z 17-22.5, ready at 24.5
#	prepared in no time	the resources of x are there at 1: it pulls 3-23, y 25-45,
#			z 47-58, ready at 60
#
# In a second pool a saves an image that b fetches from any who has it: a is prepared 0-1,
# resources 1-12: pulls 2-6, saves 6-9; b is prepared 0-1, resources 1-20, fetches 10-18.
# Without a, b waits in vain: its fetching and its resources are two phases.  If the pull of a
# takes half the time (2 s), b fetches at 8 and is ready at 18.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
aggregate --models "$TMP/models"

what_if() {
	columns what,ready,earlier,node poolscope stats whatif --format csv "$@"
}

three_pulls | records
wait_until indexed 30
WAS=recorded,62,0,z
answer "two places" "$WAS
best,40,22,z
worst,71,-9,z" what_if --places redis=2
answer "one place more is two" "$WAS
best,40,22,z
worst,71,-9,z" what_if --places 'r*=+1'
answer "half a pull" "$WAS
best,36.5,25.5,z" what_if --length pull=0.5
answer "without a node" "$WAS
best,40,22,z" what_if --without x
answer "a node begins later" "$WAS
best,78,-16,z" what_if --begin z=60
check "... and no note" poolscope stats whatif --begin z=60
check_text "... says that it was ready then" 0 "$(grep -c "have been ready when it was" "$TMP/out")"
answer "without all" "$WAS
best,,," what_if --without '*'
check "..." poolscope stats whatif --without '*'
check_printed "... which has a sentence" "^no node is left that could be ready$"
answer "begins are those after the start" "$WAS
best,61,1,z" what_if --begin x=0
answer "two changes" "$WAS
best,24.5,37.5,z" what_if --without x --length 'pull,redis=0.5'
answer "prepared in no time" "$WAS
best,60,2,z" what_if --length prep=0
answer "longer than all time" "$WAS
best,,," what_if --length pull=1000 --length pull=1000 --length pull=1000 --length pull=1000
check_status 2 "nothing is asked" poolscope stats whatif
check_status 1 "no such image" poolscope stats whatif --places alpine=2
check_printed "... has a sentence" "--places 'alpine' is no key of a phase with places"
check_status 1 "no such node" poolscope stats whatif --without w
check_printed "... has a sentence" "--without 'w' is no node of the start"
check_status 1 "no factor" poolscope stats whatif --length pull=-1
check_printed "... has a sentence" "is not from 0 to 1000"

PARTITION='acct$fetch'
export POOLSCOPE_PARTITION="$PARTITION"
{
	phase a prep 0 1
	phase a res 1 12
	phase a pull 2 6 redis
	phase a save 6 9 redis
	phase b prep 0 1
	phase b res 1 20
	phase b torrent 10 18 redis
} | records
wait_until indexed 30
answer "nobody else gives it" "recorded,20,0,b
best,,," what_if --without a
check "..." poolscope stats whatif --without a
check_printed "... so two phases wait in vain" "2 phases wait in vain"
answer "from any who has it" "recorded,20,0,b
best,18,2,b" what_if --length pull=0.5
