#!/bin/sh
# Fourteen nodes loaded image x for a second each at 10; n14 again at 100, for 50 s.  Job a of ada ran on n1
# to n13 from 100 to 200, and they loaded x at 110: n1 to n12 for 10 s, n13 for 14 s.  The median of
# the job is 10 s, so n13 lost 4 s, and nobody else: n14 was not in it.  Of all times together each of n1 to
# n12 took 11 s, n13 15 s and n14 51 s: of these 14 the median is 11, n14 lost 40 s and n13 4 s.
# They loaded y at 130, for 10 s but n13, which began at 150 and did not end: of the job 50 s, until its run
# ended.  It ran on n13 once more, from 400 to 410, the last record of n13: of all 260 s.  The median is 10 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

for name in job work; do
	printf 'phase "run" {\n\tstart = "%s:start"\n\tend = "%s:end"\n\tkey = "%s"\n}\n' $name $name $name | model $name
done
aggregate --models "$TMP/models"
{
	for n in $(seq 14); do
		printf 'event 10 n%s work:start work=x\nevent 11 n%s work:end work=x\n' "$n" "$n"
	done
	printf 'event 100 n14 work:start work=x\nevent 150 n14 work:end work=x\n'
	for n in $(seq 13); do
		printf 'event 100 n%s job:start job=a user=ada\nevent 200 n%s job:end job=a\n' "$n" "$n"
		printf 'event 110 n%s work:start work=x\nevent %s n%s work:end work=x\n' "$n" $((n == 13 ? 124 : 120)) "$n"
		[ "$n" = 13 ] || printf 'event 130 n%s work:start work=y\nevent 140 n%s work:end work=y\n' "$n" "$n"
	done
	printf 'event %s n13 %s\n' 150 'work:start work=y' 400 'job:start job=a user=ada' 410 'job:end job=a'
} | records
# lost OPTION...: node, image and seconds.
lost() {
	columns node,key,above poolscope-stats slow --by phase --model work --format csv "$@" | sed 's/\.0*$//'
}
answer "of all" "n13,y,250
n14,x,40
n13,x,4" lost
answer "of the job" "n13,y,40
n13,x,4" lost --job a
answer "of its user" "n13,y,40
n13,x,4" lost --user ada
