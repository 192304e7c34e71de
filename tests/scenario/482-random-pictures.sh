#!/bin/sh
# Pictures of random phases, those of 481: what each pixel of each row shows, of a node, of several
# and by lanes, of all of the time and of a part, and the area above.  timelines.py walks the phases
# of each pixel in integer nanoseconds.
#
#	POOLS=1000 sh tests/scenario/482-random-pictures.sh	that many pools, of 12 nodes each
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

POOLS=${POOLS:-1}
NODES=${NODES:-$([ "$POOLS" -gt 1 ] && echo 12 || echo 60)}
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
for n in 0 1 2 3; do
	printf 'phase "p%s" {\n\tstart = "s:p%s"\n\tend = "s:p%s-end"\n\tkey = "k"\n%s}\n' $n $n $n \
		"$([ $n != 0 ] || printf '\trequired = true\n.' | tr -d .)"
done | model random
aggregate --models "$TMP/models"

# Each pixel by itself, as timelines.py prints them.
pixels() {
	poolscope-stats timeline --format json --shape columns "$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
rows, area = answer["rows"], answer["area"]
several = rows["share"] or [None] * len(rows["row"])
keys = rows["key"] or several
pixels = [(row, p, phase.split(":")[1], key if share is None else "%.1f" % share)
          for row, pixel, count, phase, share, key in zip(rows["row"], rows["pixel"], rows["pixels"], rows["phase"], several, keys)
          for p in range(pixel, pixel + count)]
for each in sorted(pixels, key=lambda each: each[:2]):
    print(*each)
counts = [(p, "-" if phase is None else phase.split(":")[1], "%.6g" % nodes)
          for pixel, count, phase, nodes in zip(*(area[key] or [] for key in ("pixel", "pixels", "phase", "nodes")))
          for p in range(pixel, pixel + count)]
for each in sorted(counts, key=lambda each: (each[0], each[1] == "-", each[1])):
    print(*each, file=sys.stderr)' "$TMP/json" >"$TMP/pixels" 2>"$TMP/area"
}

# draw NAME PIXELS ROWS [FROM TO]
draw() {
	_of=$1 _pixels=$2 _rows=$3 _from=${4:-} _to=${5:-}
	_form='cut'
	[ "$_rows" != lanes ] || _form=lanes
	/usr/bin/python3 "$ROOT/tests/scenario/timelines.py" picture "$SEED" "$NODES" $_form "$_pixels" "$_rows" "$_from" "$_to" >"$TMP/expected"
	/usr/bin/python3 "$ROOT/tests/scenario/timelines.py" area "$SEED" "$NODES" "$_pixels" "$_from" "$_to" >"$TMP/expected-area"
	set -- --pixels "$_pixels"
	if [ $_form = lanes ]; then
		set -- "$@" --lanes
	else
		set -- "$@" --rows "$_rows"
	fi
	[ -z "$_from" ] || set -- "$@" --from "$(at "$_from")"
	check "$_of: something is shown" test -s "$TMP/expected"
	check "$_of: an answer" pixels "$@"
	drawn=$((drawn + $(wc -l <"$TMP/expected")))
	check "$_of: each pixel" diff "$TMP/expected" "$TMP/pixels"
	[ $_form = lanes ] || check "$_of: the area" diff "$TMP/expected-area" "$TMP/area"
}
drawn=0
pool=0
while [ $pool -lt "$POOLS" ]; do
	echo "# seed $SEED"
	PARTITION="acct\$pool$pool"
	POOLSCOPE_PARTITION=$PARTITION
	/usr/bin/python3 "$ROOT/tests/scenario/timelines.py" make "$SEED" "$NODES" | records
	draw "a row a node" 97 "$NODES"
	draw "a few pixels" 3 "$NODES"
	draw "more pixels than moments" 1000 "$NODES"
	draw "some nodes a row" 97 7
	draw "all in one row" 31 1
	draw "lanes" 53 lanes
	draw "from a moment on" 41 "$NODES" 17
	draw "... with rows of several" 41 4 17
	pool=$((pool + 1))
	SEED=$((SEED + 1))
done
echo "$pool pools, $drawn pixels"
stop aggregator
