#!/bin/sh
# A gauge of 16,777,217 and one of 9,007,199,254,740,991: the first whole numbers behind which
# single and double precision have gaps.  A counter that grows by 68,719,476,737 bytes in 10 s,
# 6,871,947,673.7 a second.
# SPDX-License-Identifier: MIT
export BASE=1699999980 # 22:13:00
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 app/p poolscope.boot:1:gauge app.small:1:gauge app.large:1:gauge app.sent:By:counter
	sample 0 n1 app/p 7 16777217 9007199254740991 0
	sample 10 n1 app/p 7 16777217 9007199254740991 68719476737
	sample 20 n1 app/p 7 16777217 9007199254740991 137438953474
	END
# means METRIC: what series says, each value once.
means() {
	poolscope-stats series -m "$1" --step 10s --format csv -n n1 | tr -d '\r' | sed 1d | cut -d, -f5 | sort -u
}
answer "24 bits and one more" "16777217.0" means app.small
answer "53 bits" "9007199254740991.0" means app.large
answer "a rate" "6871947673.7" means app.sent
answer "as bands" "16777217.0,16777217.0" sh -c 'poolscope-stats series -m app.small --as bands --format csv | sed -n 2p | cut -d, -f6,10'
# drawn METRIC: the middle column of the picture's data.
drawn() {
	mkdir -p "$TMP/pictures"
	poolscope-plot samples -q -m "$1" -o "$TMP/pictures" --step 10s || return
	cat "$TMP"/pictures/*"$1"*.dat | awk '$1 ~ /^[0-9]/ { print $2 }' | sort -u
}
answer "drawn, too" "9007199254740991" drawn app.large
# Least and greatest of a step that joins several.
joined() {
	rm -rf "$TMP/pictures"
	mkdir "$TMP/pictures"
	poolscope-plot samples -q -m "$1" -o "$TMP/pictures" --step 1s || return
	cat "$TMP"/pictures/*"$1"*.dat | awk '$1 ~ /^[0-9]/ { print $3, $4 }' | sort -u
}
answer "joined, too" "16777217 16777217" joined app.small
