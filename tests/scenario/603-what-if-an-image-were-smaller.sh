#!/bin/sh
# When a pool would have been ready, had an image been of another size.  Seconds after the
# start; one pull of an image at once; redis has 100 MB, big has 300 MB; all are prepared 0-2:
#
#	x	resources 2-21: pulls redis 3-9, big 10-20
#	y	resources 2-34: pulls redis 10-17, big 21-33
#	z	resources 2-46: pulls redis 20-25, big 35-44
#
# 200 MB more cost 4, 5 and 4 s: the median is 2 s for 100 MB.  So of each pull of big 6 s go
# with its size for sure, and 2 s of redis; or, if nothing else does, all of it.  All could
# have pulled from 2 on; the second pull of big began 1 s after the first one had ended, the
# third 2 s after the second.  The resources end 1 s (x, y) and 2 s (z) after the last pull.
#
#	big half	best	x 10-15, y 16-22, z 24-28.5: ready at 30.5
#			worst	3 s less each: x 10-17, y 18-27, z 29-35: ready at 37
#	big twice	best	6 s more each: x 10-26, y 27-45, z 47-62: ready at 64
#			worst	x 10-30, y 31-55, z 57-75: ready at 77
#	big is nothing	best	x 10-10, y 11-11, z 13-13; z pulls redis until 25: ready at 27
#			worst	6 s less each: x 10-14, y 15-21, z 23-26: ready at 28
#	redis half	x 3-6, y 7-10.5, z 13.5-16, or 3-8, 9-15, 18-22: ready when it was
#
# Two places for big: x 10-20; y pulls from 3 to 15 (2 is when its resources are there); z has
# the place of y: 17-26, ready at 28.  At worst all that can be there at once, two of big and one
# of redis, share the most of 10 s: 10-20 were 300 + 100 MB.  With 40 / 3 MB/s redis takes 7.5 s
# and big 22.5 s: x 10-32.5, y 3-25.5, z 27.5-50: ready at 52.
#
# Both, two places for big of half the size, 150 MB.  Best: x 10-15, y 3-9, z 11-15.5, and z has redis at 25: ready at 27.
# Worst: redis takes 7.5 s, big 11.25 s, as they share 40 / 3 MB/s.  z has the place of y, 3-14.25: 16.25-27.5; redis: x
# 3-10.5, y 11.5-19, z 22-29.5: ready at 31.5.
#
# In another pool p pulls big 3-43, and q 44-54, one at once: 30 MB/s are the most.  Two share that: 20 s each, but p took 40,
# whatever others did: q 3-23, p 3-43, and its resources end a second later: ready at 44.
#
# In another model "get" has places and no bytes, though its image has: p gets 1-11, q 12-22.  Two places: q 2-12; at
# worst twice as long each, p 1-21, q 2-22.
#
# In a second pool a node pulls one image: how much of its 10 s goes with the size is not known.
# Half: best 5 s, worst 10 s.  The bytes of that image are those that another node loaded.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
model other <<-'END'
	phase "made" {
		start = "made:start"
		end = "made:end"
		required = true
	}
	phase "get" {
		start = "get:start"
		end = "get:end"
		key = "img"
		places = 1
		required = true
		after = { "made" }
	}
	phase "unpack" {
		start = "unpack:start"
		end = "unpack:end"
		key = "img"
		bytes = "size"
	}
END
aggregate --models "$TMP/models"

what_if() {
	columns what,ready,earlier,node poolscope stats whatif --format csv "$@"
}

{
	for node in x y z; do
		phase $node prep 0 2
	done
	phase x res 2 21
	phase x pull 3 9 redis 100MB
	phase x pull 10 20 big 300000000
	phase y res 2 34
	phase y pull 10 17 redis 100MB
	phase y pull 21 33 big 300000000
	phase z res 2 46
	phase z pull 20 25 redis
	phase z pull 35 44 big 300MB
} | records
wait_until indexed 24
WAS=recorded,46,0,z
answer "half of big" "$WAS
best,30.5,15.5,z
worst,37,9,z" what_if --size big=0.5
answer "big twice" "$WAS
best,64,-18,z
worst,77,-31,z" what_if --size 'b*=2'
answer "big is nothing" "$WAS
best,27,19,z
worst,28,18,z" what_if --size big=0
answer "redis is not on the path" "$WAS
best,46,0,z
worst,46,0,z" what_if --size redis=0.5
check "..." poolscope stats whatif --size redis=0.5
check_printed "... which a note has" "the pool would have been ready when it was: .* not on its critical path"
answer "two places" "$WAS
best,28,18,z
worst,52,-6,z" what_if --places big=2
answer "two places for half of big" "$WAS
best,27,19,z
worst,31.5,14.5,z" what_if --places big=2 --size big=0.5
check_status 1 "no such image" poolscope stats whatif --size alpine=2
check_printed "... has a sentence" "--size 'alpine' is no key of a phase whose bytes are known"
check_status 1 "no factor" poolscope stats whatif --size big=-1
check_printed "... has a sentence" "is not from 0 to 1000"

PARTITION='acct$slow'
export POOLSCOPE_PARTITION="$PARTITION"
{
	phase p prep 0 2
	phase p res 2 44
	phase p pull 3 43 big 3e8
	phase q prep 0 2
	phase q res 2 55
	phase q pull 44 54 big
} | records
wait_until indexed 14
answer "who shares is not faster" "recorded,55,0,q
best,44,11,p
worst,44,11,p" what_if --places big=2

PARTITION='acct$other'
export POOLSCOPE_PARTITION="$PARTITION"
{
	phase p made 0 1
	phase p get 1 11 redis
	phase p unpack 11 13 redis 100MB
	phase q made 0 1
	phase q get 12 22 redis
} | records
wait_until indexed 14
answer "bytes of an image are not those of each phase" "recorded,22,0,q
best,12,10,q
worst,22,0,q" what_if --places redis=2

PARTITION='acct$one'
export POOLSCOPE_PARTITION="$PARTITION"
{
	phase a prep 0 2
	phase a res 2 14
	phase a pull 3 13 redis
	phase b prep 0 2
	phase b res 2 5
	phase b load 3 4 redis 1GB
	phase b pull 6 7 other
} | records
wait_until indexed 14
answer "nothing to compare with" "recorded,14,0,a
best,9,5,a
worst,14,0,a" what_if --size redis=0.5
check "..." poolscope stats whatif --size redis=0.5
check_printed "... which a note has" "goes with the size is not known, as no node moved two"
check "a key without bytes" poolscope stats whatif --size '*=0.5'
check_printed "... is counted" "1 phase of unknown bytes: as long as recorded"
