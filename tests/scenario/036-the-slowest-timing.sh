#!/bin/sh
# A benchmark was started 1003 times, once an hour.  Its entry "add" took 1 s each time, but 99 s
# the second time, 50 s the third time, and nobody knows how long the first time ("soon").  The
# file of the last start has also the entries "b10" and "b9".
#
# The slowest timings are 99 and 50 s: --sort looks at all starts, not only at the 1000 newest that are listed
# otherwise (which are those from the fourth on); with --limit 1002 the first is not looked at, with
# --limit 2 only those of 1 s.  What is no number is the last.  Names are in natural order: b9 before b10.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
start broker poolscope-broker || exit 1
mkdir "$TMP/data" "$TMP/archive"
/usr/bin/python3 - "$TMP/data" "$BASE" <<'PY'
import json, sys
for i in range(1003):
    entries = [{"name": "add", "wallTime": {0: "soon", 1: 99, 2: 50}.get(i, 1)}]
    if i == 1002:
        entries += [{"name": "b10", "wallTime": 1}, {"name": "b9", "wallTime": 1}]
    with open("%s/%d.json" % (sys.argv[1], i), "w") as file:
        json.dump({"name": "bench10", "startTime": int(sys.argv[2]) + 3600 * i, "entries": {"entry": entries}}, file)
with open(sys.argv[1] + "/other.json", "w") as file:
    json.dump({"name": "bench9", "startTime": int(sys.argv[2]), "entries": {}}, file)
PY
check "results are uploaded" poolscope-upload results -d "$TMP/data" -a "$TMP/archive" --target store
wait_until indexed 60

# timings ARGUMENT...: of add.
timings() {
	columns timing poolscope-results timings bench10 add --format csv "$@"
}
answer "the slowest two" "99
50" timings --sort timing --top 2
answer "... of a window" 50 timings --sort timing --top 1 --from "$(at 7200)" --to "$(at 10800)"
answer "... of the newest" 1 timings --sort timing --top 1 --limit 2
check "a timing that is no number" timings --sort timing --limit 0
check_text "... is the last" "99 soon" "$(sed -n '1p; 1003p' "$TMP/out" | tr '\n' ' ' | sed 's/ $//')"
check_text "... of all" 1003 "$(wc -l <"$TMP/out")"
check "as JSON" poolscope-results timings bench10 add --sort timing --top 1 --format json
check_text "... the same" "99 $((BASE + 3600))000000" "$(/usr/bin/python3 -c 'import json, sys
row, = json.load(open(sys.argv[1]))["rows"]
print(row["timing"], row["start_us"])' "$TMP/out")"
check "as a table" poolscope-results timings bench10 add --sort timing --top 2
check_text "... two rows" 3 "$(wc -l <"$TMP/out")"
answer "the newest starts come first" "$((BASE + 3600 * 1002))000000" columns start_us \
	poolscope-results starts bench10 --sort start_us --oldest --top 1 --format csv
answer "the first two of a list" "$((BASE))000000
$((BASE + 3600))000000" columns start_us poolscope-results starts bench10 --oldest --top 2 --format csv
answer "tests by name" "bench9
bench10" columns test poolscope-results tests --sort test --format csv
answer "... the first as they are listed" bench10 columns test poolscope-results tests --top 1 --format csv
answer "entries by name" "add
b9
b10" columns entry poolscope-results entries bench10 --sort entry --format csv
wrong_usage "a column that does not exist" "not one of start, start_us, timing; did you mean timing?" \
	poolscope-results timings bench10 add --sort timings
answer "entities by test" "bench9" columns test poolscope-results entities --sort test --top 1 --format csv
check_status 1 "a test that does not exist" poolscope-results timings bench11 add --sort timing
check_printed "... is reported" "no results of test 'bench11'"
stop broker
stop aggregator
