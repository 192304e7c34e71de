#!/bin/sh
# Twelve runs of a benchmark with entries whose values hardly differ, or not at all: a count of
# 1,234,567,890 or one more, 7 each time, 0 each time, the largest double and half of it, the smallest one, and a
# time that varies.  Each has a picture of its own.  A picture that cannot be written, because its name is a directory,
# keeps none of the others away, and is named.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive" "$TMP/pictures" "$TMP/more"
for run in 0 1 2 3 4 5 6 7 8 9 10 11; do
	odd=$((run % 2))
	large=1.7976931348623157e308
	[ $odd = 0 ] || large=8e307
	cat >"$TMP/data/$run.json" <<-END
		{"name": "counted", "startTime": $((1700000000 + 3600 * run)), "entries": {"entry": [
		{"name": "count", "wallTime": $((1234567890 + odd))}, {"name": "seven", "wallTime": 7},
		{"name": "zero", "wallTime": 0}, {"name": "large", "wallTime": $large},
		{"name": "small", "wallTime": 5e-324}, {"name": "time", "wallTime": 1.$run}]}}
	END
done
check "twelve runs" poolscope-upload results -q -d "$TMP/data" -a "$TMP/archive" --target store
check "they are indexed" wait_until indexed 30
# drawn DIRECTORY: the entries with a picture.
drawn() {
	find "$1" -type f -name '*.png' -size +1k | sed 's/.*-counted-//; s/\.png$//' | sort | xargs
}
check "all are drawn" poolscope-plot results -q counted -o "$TMP/pictures"
check_text "each in a picture" "count large seven small time zero" "$(drawn "$TMP/pictures")"
picture=$(basename "$(find "$TMP/pictures" -name '*-seven.png')")
mkdir -p "$TMP/more/$picture/full"
check_status 1 "one cannot be written" poolscope-plot results -q counted -o "$TMP/more"
check_printed "it is named" "'seven' is not drawn"
check_printed "and counted" "1 picture"
check_text "the others are drawn" "count large small time zero" "$(drawn "$TMP/more")"

# ---- a gauge below zero, which hardly changes, and one that does not
PARTITION='acct$below'
records <<-'END'
	group n1 app/p app.nearly:1:gauge app.same:1:gauge
	sample 0 n1 app/p -1234567890 -7
	sample 10 n1 app/p -1234567889 -7
	sample 20 n1 app/p -1234567890 -7
	END
mkdir "$TMP/below"
check "gauges below zero are drawn" poolscope-plot samples -q -p 'acct$below' -m 'app.*' -o "$TMP/below" --step 10s
check_text "both" 2 "$(find "$TMP/below" -name '*.png' -size +1k | wc -l)"
