#!/bin/sh
# One node, drawn as the user asks: 900 by 400 pixels are bytes 16 to 23 of a PNG
# (00000384 00000190); on dark paper no colour of the script is that of the light
# paper; PDF is a page of 900/96 by 400/96 inches of 72 points: 675 by 300.
# Sizes and titles that cannot be drawn are refused with the limits.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
printf 'event %s n1 %s\n' 0 nodeprep:start 50 nodeprep:end 60 cascade:start \
	100 cascade:gr-done | records
plot() { poolscope-plot cascade -o "$TMP/out.d" "$@"; }
picture=$TMP/out.d/acct-pool-phases

check "a size and a title" plot --size 900x400 --title 'Rack "7" at 100 %'
check_text "as wide and high as asked" "00000384 00000190" \
	"$(od -An -j16 -N8 -tx1 "$picture.png" | tr -d ' ' | sed 's/^......../& /')"
check "has the title" grep -q '^set label "Rack \\042\\067\\042 at 100 \\045"' "$picture.plot"
check "on white paper" grep -q '"#ffffff"' "$picture.plot"

check "dark" plot --style dark
check_text "no white, no dark letters" "" "$(grep -E '#ffffff|#444444' "$picture.plot")"
check "light letters" grep -q 'set tics textcolor rgb "#d0d4da"' "$picture.plot"
check "print" plot --style print --view all
check "the older tool's picture too" grep -q 'linewidth 1.5' "$TMP/out.d/acct-pool.plot"

check "PDF" plot --term pdf --size 900x400
check_text "is PDF" "%PDF" "$(head -c 4 "$picture.pdf")"
check "of this size" grep -aq 'MediaBox \[ 0 0 675 300 \]' "$picture.pdf"
check_text "characters" "30 100" "$(poolscope-plot cascade --term dumb --size 100x30 |
	tr -d '\f' | awk 'length($0) > n { n = length($0) } END { print NR, n }')"

# refused SENTENCE ARGUMENT...
refused() {
	sentence=$1
	shift
	plot "$@" 2>"$TMP/said"
	check_text "status of $*" 2 $?
	check_text "$*" "poolscope-plot: $sentence (poolscope-plot --help lists the options)" \
		"$(head -n 1 "$TMP/said")"
}
refused "--size: '1200' is not WIDTHxHEIGHT, such as 1600x900" --size 1200
refused "--size: '90000x400': the width is 320 to 8000 pixels, the height 200 to 8000" \
	--size 90000x400
refused "--size: '900x400': the width is 40 to 500 characters, the height 12 to 500" \
	--size 900x400 --term dumb
refused "--title needs TEXT of 1 to 200 bytes; this one has 0" --title ''
