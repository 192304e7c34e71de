#!/bin/sh
# A benchmark started at 1000 s, 2000 s, 3000.25 s and 4000 s after the epoch of the story;
# its entry took 1, 2, 3 and 4 s.
#
# --from takes the start at its time, --to does not: from 2000 to 3000.25 there is one start, that
# of 2000 s.  Ten nanoseconds later at both edges the first is out and 3000.25 is in.
# The picture of that window has the same starts.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# start_us SECONDS: microseconds since 1970, as results are printed.
start_us() {
	at "$1" | awk '{ printf "%.0f\n", $1 * 1000000 }'
}

aggregate
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
for run in 1000/1 2000/2 3000.25/3 4000/4; do
	echo '{"name": "bench", "startTime": '"$(at "${run%/*}")"', "entries": {"entry": [
		{"name": "add", "wallTime": '"${run#*/}"'}]}}' >"$TMP/data/${run#*/}.json"
done
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
wait_until indexed 30

answer "the start at --from, not that at --to" "$(start_us 2000)" columns start_us \
	poolscope-results starts bench --from "$(at 2000)" --to "$(at 3000.25)" --format csv
answer "... of timings, too" 2 columns timing \
	poolscope-results timings bench add --from "$(at 2000)" --to "$(at 3000.25)" --format csv
answer "a moment later at both edges" "$(start_us 3000.25)" columns start_us \
	poolscope-results starts bench --from "$(at 2000.00000001)" --to "$(at 3000.25000001)" --format csv
answer "up to a time, the newest first" "$(start_us 2000)
$(start_us 1000)" columns start_us poolscope-results starts bench --to "$(at 3000)" --format csv
answer "... the oldest first" "$(start_us 1000)" columns start_us \
	poolscope-results starts bench --to "$(at 3000)" --oldest --limit 1 --format csv
answer "... the newest of them" "$(start_us 2000)" columns start_us \
	poolscope-results starts bench --to "$(at 3000)" --limit 1 --format csv
answer "from a time on" "4
3" columns timing poolscope-results timings bench add --from "$(at 3000)" --format csv
check "a picture of the window" poolscope-plot results bench add --from "$(at 2000.00000001)" \
	--to "$(at 3000.25000001)" -o "$TMP/pictures"
# time, median, ...; after two empty lines the levels
check_text "... has its start" "3" "$(awk '/^$/ { exit } !/^#/ { print $2 + 0 }' "$TMP"/pictures/*.dat)"
wrong_usage "a window of another list" "--from is for starts, timings, changes, check, not for tests" \
	poolscope-results tests --from -1h
wrong_usage "... and its end" "--to is for starts, timings, changes, check, not for entities" \
	poolscope-results entities --to -1h
stop broker
stop aggregator
