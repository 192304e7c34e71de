#!/bin/sh
# Of 60 runs one failed: 1.7 %, which an axis up to 1.7 % would show as everything.  Their durations
# are 95 and 100 s, on two days: an axis from 95 on would show 100 as many times of that.  Each
# program logs in one sentence what it wrote, and the file of a picture has a name that can be read.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
seq 60 | awk '{
	print "event", 2000 * $1, "farm run:request run=" $1
	print "event", 2000 * $1 + ($1 > 30 ? 100 : 95), "farm run:publish run=" $1
	print "entity farm run", $1, "run=" $1, "device_group=board", ($1 == 3 ? "error=broken" : "")
}' | records
check "the errors of groups are drawn" poolscope-plot testrun --view errors -o "$TMP/out.d"
base=$TMP/out.d/acct-pool-testrun
check_text "one sentence logs what was written" \
	"info poolscope-plot: wrote $base-errors.png: SIZE, with .plot and .dat" "$(sed 's/: [0-9.]* KiB,/: SIZE,/' "$TMP/err")"
check_text "1 of 60" "board 60 60 1 1.666667 1.666667" "$(sed 1d "$base-errors.dat")"
check "... is a sixth of the width, not all of it" grep -qx 'set xrange \[0:10\]' "$base-errors.plot"
check "the days are drawn" poolscope-plot testrun --view days --no-png -o "$TMP/out.d"
check "... from 0 on" grep -q '^set yrange \[0:' "$base-days-testrun.plot"
check_text "... with a mark for each day, of the median and of p90" 2 "$(grep -c 'with linespoints' "$base-days-testrun.plot")"

check "a trace" poolscope-trace -o "$TMP/out.json"
check_text "... logs its size in one sentence" "info poolscope-trace: wrote $TMP/out.json: SIZE" "$(sed 's/: [0-9.]* [KM]*i*B$/: SIZE/' "$TMP/err")"
check "... unless it shall be quiet" poolscope-trace -q -o "$TMP/out.json"
check_text "... then nothing" "" "$(cat "$TMP/err")"
check "a dump" poolscope-dump --kind event --format csv -o "$TMP/out.csv"
check_text "... logs it too" "info poolscope-dump: wrote $TMP/out.csv: SIZE" "$(sed 's/: [0-9.]* [KM]*i*B$/: SIZE/' "$TMP/err")"
check "to standard output" poolscope-dump --kind event --format csv
check_text "... nothing is logged" "" "$(cat "$TMP/err")"

mkdir "$TMP/results" "$TMP/archive"
check "results of a test called //bench:test_0" poolscope-generate results --files 3 --entries 1 --base 0 -o "$TMP/results"
# Another test, whose file would have the same name.
for of in "$TMP/results"/*; do
	sed 's,//bench:test_0,bench:test_0,' "$of" >"$of.other"
	mv "$of.other" "${of%.*}-other.${of##*.}"
done
check "... are stored" poolscope-upload results --broker "ipc://$DIR/run/intake.ipc" --target store -d "$TMP/results" -a "$TMP/archive"
drawn() {
	poolscope-plot results //bench:test_0 --no-png -q -o "$TMP/results.d"
}
check "... and drawn" wait_until drawn
check_text "... into files whose names can be read" "acct-pool-bench:test_0-BM_0.dat acct-pool-bench:test_0-BM_0.plot" \
	"$(cd "$TMP/results.d" && echo *)"
check "another test called bench:test_0" sh -c 'poolscope-plot results bench:test_0 --no-png -q -o "$1"' - "$TMP/results.d"
check_text "... has files of its own, with a hash" 4 \
	"$(cd "$TMP/results.d" && printf '%s\n' * | sed 's/BM_0-[0-9a-f]*[.]/BM_0-HASH./' | grep -cxE 'acct-pool-bench:test_0-BM_0(-HASH)?[.](dat|plot)')"
