#!/bin/sh
# Forty texts that would be commands, as partition, set, unit, key, event and
# image: drawn, written and logged, they are texts.
# SPDX-License-Identifier: MIT
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

texts() {
	/usr/bin/python3 "$ROOT/tests/attack/texts.py" "$@"
}
canary=$TMP/canary
start aggregator poolscope-aggregator || exit 1
check "forty texts that would be commands are kept" texts send \
	"ipc://$DIR/run/intake.ipc" "ipc://$DIR/run/reader.ipc" "$canary"
texts list "$canary" >"$TMP/partitions"
check_text "forty" 40 "$(wc -l <"$TMP/partitions")"

# What a drawing may start is gnuplot, once.  A sanitizer does not like to be
# traced.
draw() {
	_partition=$1
	shift
	if [ "${VARIANT:-release}" = release ] && command -v strace >/dev/null; then
		strace -f -qq -e trace=execve -e signal=none -o "$TMP/trace" \
			poolscope-plot -p "$_partition" -o "$TMP/out.d" --quiet "$@" 2>>"$TMP/plot.err"
		# Its own, and gnuplot's; a search in PATH fails until it is there.
		[ "$(grep -c ' = 0$' "$TMP/trace")" -le 2 ] ||
			{ cat "$TMP/trace"; return 3; }
	else
		poolscope-plot -p "$_partition" -o "$TMP/out.d" --quiet "$@" 2>>"$TMP/plot.err"
	fi || [ $? -eq 1 ] # nothing to draw
}
mkdir "$TMP/out.d" "$TMP/empty"
wrong=0 drawn=0
while IFS= read -r partition; do
	draw "$partition" samples "-m*" --term svg || wrong=$((wrong + 1))
	# Every eighth in the other kind of picture as well.
	[ $((drawn % 8)) -ne 0 ] ||
		draw "$partition" cascade --view phases || wrong=$((wrong + 1))
	drawn=$((drawn + 1))
	[ ! -e "$canary" ] || { echo "it ran: $partition"; break; }
done <"$TMP/partitions"
check_text "pictures start gnuplot and nothing else" "0 40" "$wrong $drawn"
check "nothing of what they say ran" test ! -e "$canary"
echo "# $(find "$TMP/out.d" -type f | wc -l) files of pictures"
check "there are pictures" test "$(find "$TMP/out.d" -name '*.svg' | wc -l)" -ge 35
check_text "all in the folder that was named, under plain names" "" \
	"$(find "$TMP/out.d" -mindepth 1 | sed 's,.*/,,' | LC_ALL=C grep -v '^[A-Za-z0-9_%+=,@:][A-Za-z0-9._%+=,@:-]*$')"
check "no markup gets into a picture" texts svg "$TMP/out.d"/*.svg

while IFS= read -r partition; do
	poolscope-dump -p "$partition" --format jsonl --quiet >>"$TMP/all.jsonl"
done <"$TMP/partitions"
check "as JSON they are what they were" texts json "$TMP/all.jsonl" "$canary"
check "... and jq reads it, too" jq -e . "$TMP/all.jsonl"
while IFS= read -r partition; do
	poolscope-dump -p "$partition" --format csv --quiet >>"$TMP/all.csv.$$"
	[ -s "$TMP/all.csv" ] || cp "$TMP/all.csv.$$" "$TMP/all.csv"
	tail -n +2 "$TMP/all.csv.$$" >>"$TMP/all.csv"
	rm "$TMP/all.csv.$$"
done <"$TMP/partitions"
check "as CSV they are texts, and no formulas" texts csv "$TMP/all.csv" "$canary"

check "as metrics they are labels" poolscope-stats metrics --metrics nodes --quiet -o "$TMP/openmetrics"
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
	check "... which the strict parser reads as they were" /usr/bin/python3 "$ROOT/tests/attack/metrics.py" \
		"$TMP/openmetrics" "$canary"
else
	echo "SKIPPED the strict parser: no python3-prometheus-client"
fi

stop aggregator
check_text "no log line has a control character" 0 \
	"$(LC_ALL=C grep -c -e "$(printf '\033')" -e "$(printf '\r')" "$TMP/aggregator.log" "$TMP/plot.err" | awk -F: '{ n += $NF } END { print n }')"
check "nothing ran, to the end" test ! -e "$canary"
