#!/bin/sh
# A node reports its load every 10 s for ten minutes: 60 samples.  Whoever gets the
# acknowledgement and asks at once, sees all of them: a picture in steps of 10 s has 60
# values, and the status counts 60 samples.  Neither question names a time, so both
# begin with the question which times there are.  Twenty pools, one after the other.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
/usr/bin/python3 -c 'print("group n1 work load:1:gauge")
for i in range(60):
    print("sample", 10 * i, "n1 work", i)' >"$TMP/samples"

# count_values: how many values a picture of this pool has.
count_values() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m load --step 10s --no-png -o "$TMP/plot" -p "$PARTITION" \
		>"$TMP/out" 2>"$TMP/err"
	cat "$TMP"/plot/*.dat 2>/dev/null | grep -c '^[0-9]'
}

# count_stored: how many samples of this pool the status has.
count_stored() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" &&
		/usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["partitions"][sys.argv[2]]["records_sample"])' \
			"$TMP/status" "$PARTITION"
}

pictures=
counts=
for pool in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
	PARTITION="acct\$pool-$pool"
	send_records <"$TMP/samples" || exit 1
	if [ "${pool%[02468]}" = "$pool" ]; then
		pictures="$pictures $(count_values)"
	else
		counts="$counts $(count_stored)"
	fi
done
check_text "pictures have what was just stored" " 60 60 60 60 60 60 60 60 60 60" "$pictures"
check_text "the status too" " 60 60 60 60 60 60 60 60 60 60" "$counts"
