#!/bin/sh
# Berlin is an hour ahead of UTC in winter and two in summer; in 2023 its clocks were put back
# on October 29 at 01:00 UTC, so that day has 25 hours: from October 28, 22:00 UTC, to
# October 29, 23:00 UTC.  Records of n1, in seconds after October 28, 21:59:59 UTC:
#   0       a second before the day of Berlin
#   1       it begins
#   9001    2.5 hours later, at 02:30 by the clocks of Berlin, the first time (00:30 UTC)
#   12601   an hour later, at 02:30 the second time (01:30 UTC)
#   90000   a second before it ends: 25 h - 1 s after the begin is 89,999 + 1
#   90001   the next day begins, 24 h after the second 1 and an hour
# --from 2023-10-29 --to 2023-10-30 is the day: four records in Berlin.  In UTC it begins
# two hours later, and has 9001, 12601, and what is before 24:00 UTC, 93,601: 90000, 90001.
# An hour at +05:30 is 5.5 h before that of UTC: 2023-10-29T03:30 is October 28, 22:00 UTC.
# The axis of a picture from 00:00 to 04:00 UTC has 03:00, an hour after the second 02:00, at
# 02:00 UTC, 1698544800.
# Nothing is lost: --tz changes how times are read and written, not what is stored.
# SPDX-License-Identifier: MIT
BASE=1698530399
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

[ -e /usr/share/zoneinfo/Europe/Berlin ] || {
	echo "0 passed, 0 failed (no time zone database)"
	exit 0
}
# shellcheck disable=SC2119 # no arguments
aggregate
for at in 0 1 9001 12601 90000 90001; do
	echo "event $at n1 clock:at-$at"
done | records
# names ARGUMENT...: the names of the events.
names() {
	poolscope-dump --kind event --format csv "$@" >"$TMP/csv" || return
	/usr/bin/python3 -c 'import csv, sys
print(*(row["name"][3:] for row in csv.DictReader(open(sys.argv[1]))))' "$TMP/csv"
}
answer "a day of 25 hours" "1 9001 12601 90000" names --tz Europe/Berlin --from 2023-10-29 --to 2023-10-30
answer "... the same day of UTC" "9001 12601 90000 90001" names --from 2023-10-29 --to 2023-10-30
answer "--tz may follow the times" "1 9001 12601 90000" names --from 2023-10-29 --to 2023-10-30 --tz Europe/Berlin
answer "half past two, of two the first" "9001 12601" names --tz Europe/Berlin \
	--from "2023-10-29 02:30" --to "2023-10-29 03:00"
answer "a zone in the time counts" "12601" names --tz Europe/Berlin --from 2023-10-29T01:30:00Z \
	--to 2023-10-29T03:00:00+01:00
answer "half an hour" "1" names --tz +05:30 --from "2023-10-29 03:30" --to "2023-10-29 03:31"
answer "the environment" "1 9001 12601 90000" env POOLSCOPE_TZ=Europe/Berlin sh -c '
	poolscope-dump --kind event --format csv --from 2023-10-29 --to 2023-10-30 |
	sed "s/.*at-\([0-9]*\).*/\1/; 1d" | paste -sd " "'
answer "local time" "1 9001 12601 90000" env TZ=Europe/Berlin sh -c '
	poolscope-dump --kind event --format csv --tz local --from 2023-10-29 --to 2023-10-30 |
	sed "s/.*at-\([0-9]*\).*/\1/; 1d" | paste -sd " "'
# printed ARGUMENT...: the printed times of the two half past two.
printed() {
	poolscope-dump --kind event --from 2023-10-29T00:00Z --to 2023-10-29T02:00Z --format csv "$@" | grep -o '2023-10-2[0-9]T[0-9:]*[^,]*' |
		sed 's/[.]0*//' | sort -u
}
answer "printed with the zone" "2023-10-29T02:30:00+01:00
2023-10-29T02:30:00+02:00" printed --tz Europe/Berlin
answer "... in UTC" "2023-10-29T00:30:00Z
2023-10-29T01:30:00Z" printed
{
	echo "group n1 room warmth:Cel:gauge"
	for minute in 0 60 120 180 239; do
		echo "sample $((7201 + minute * 60)) n1 room 20"
	done
} | records
check "a picture" poolscope-plot samples -m warmth --tz Europe/Berlin --no-png -o "$TMP/plot"
check "... names the zone" grep -q 'set xlabel "Europe/Berlin, from 2023-10-29"' "$TMP"/plot/*.plot
check "... and has its hours" grep -q '"03:00" 1698544800' "$TMP"/plot/*.plot
wrong_usage "a zone that does not exist" "'Europe/Berln' is not a time zone" poolscope-dump --tz Europe/Berln
wrong_usage "... nor may it be any file" "is not a time zone" poolscope-dump --tz ../../../etc/passwd
wrong_usage "a time that no day has" "is not a time" \
	poolscope-stats usage --tz local --from 25:00
