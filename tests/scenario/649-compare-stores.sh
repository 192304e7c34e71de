#!/bin/sh
# Two stores of one pool of one node.  In this one seven starts took 100, 101 ... 106 s, in the other, a
# week later, seven took 112, 113 ... 118 s.
#
# As in 646: worse, the limits are 113 / 106 = 1.0660 and 117 / 100 = 1.17.
#
# A store is compared with itself, or with a copy of it: its newest four are the new ones, and are not the
# old ones, too.  Of three and four runs nothing is known: 7 choose 3 is 35, and of seven and four neither: 330.
# A store that is not there, was cut or is none: the old ones are there alone, and it is undecided.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model_of_starts
STORE=$POOLSCOPE_DIR/store
# starts BEGIN SECONDS: seven, one every 10,000 s.
starts() {
	for i in 0 1 2 3 4 5 6; do
		echo "event $(($1 + i * 10000)) n1 work:prepare"
		echo "event $(($1 + i * 10000 + $2 + i)) n1 work:prepared"
	done
}
aggregate --models "$TMP/models"
starts 604800 112 | records
stop aggregator
mv "$STORE" "$TMP/other"
aggregate --models "$TMP/models"
starts 0 100 | records

# ready STATUS OPTION...
ready() {
	_exit=$1
	shift
	compared "$_exit" poolscope-stats compare --format csv "$@" | grep '^ready\|^status'
}
answer "the other is worse" "ready worse 1.0660 1.1700 103.0000 115.0000 7 7 -" ready 3 --with-store "$TMP/other" --with last:7
answer "... than the newest four, too few" "ready undecided - - 104.5000 115.0000 4 7 7" ready 4 --with-store "$TMP/other" --with last:7 \
	--base last:4
answer "... the first of it" "ready undecided - - 103.0000 112.0000 7 1 7" ready 4 --with-store "$TMP/other" \
	--with "$(at 604800)"
cp -r "$STORE" "$TMP/copy"
mkdir "$TMP/cut" "$TMP/none"
cp -r "$STORE/." "$TMP/cut"
truncate -s 5000 "$TMP/cut/tables/data.mdb"
for store in "$STORE" "$TMP/copy"; do
	answer "the same store" "ready undecided - - 101.0000 104.5000 3 4 7" ready 4 --with-store "$store" --with last:4
	check "... none is compared with itself" grep -q '4 runs are old and new: not compared with themselves' "$TMP/notes"
done
for store in "$TMP/cut" "$TMP/none" "$TMP/nowhere"; do
	answer "no store: ${store##*/}" "ready undecided - - 103.0000 - 7 0 -" ready 4 --with-store "$store"
	check "... is named" grep -q "$store" "$TMP/notes"
done
check_status 4 "JUnit of no store" poolscope-stats compare --with-store "$TMP/nowhere" --report junit
check_printed "... has no new run" '<skipped message="undecided: there is no new run like those"/>'
check_printed "... and names it" "<system-err>$TMP/nowhere: .*No such file"
wrong_usage "no directory" "name the directory of a store" poolscope-stats compare --with-store ""
stop aggregator
