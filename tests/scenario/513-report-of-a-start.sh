#!/bin/sh
# What a report is of, of a pool that started twice: two nodes prepared for 10 and 20 s, and 15 min
# later one of them for 4 s.  The newest start has 1 preparation of 4 s, the first 2 of 30 s
# together, all 3 of 34 s.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no arguments
aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 0 n1 nodeprep:start
	event 10 n1 nodeprep:end
	event 0 n2 nodeprep:start
	event 20 n2 nodeprep:end
	event 900 n1 nodeprep:start
	event 904 n1 nodeprep:end
END
FIRST=2023-11-14T22:13:20Z SECOND=2023-11-14T22:28:20Z

# prepared [OPTION...]: what the page of a report has: the start, and how many preparations.
prepared() {
	poolscope report -o "$TMP/report.html" "$@" >&2 || return
	/usr/bin/python3 -c '
import base64, gzip, json, re, sys
page = open(sys.argv[1]).read()
data = json.loads(gzip.decompress(base64.b64decode(re.search(r"id=\"?data\"?[^>]*>([^<]*)<", page).group(1))))
of = json.loads(data["answers"]["pools/" + sys.argv[2] + "/phases"])
print(of["start"], *[(row["count"], row["sum"]) for row in of["rows"] if row["phase"] == "cascade:nodeprep"])' \
		"$TMP/report.html" "$PARTITION"
}
answer "a report is of the newest start" "$SECOND (1, 4.0)" prepared
answer "... of the first" "$FIRST (2, 30.0)" prepared --start "$FIRST"
answer "... of all" "None (3, 34.0)" prepared --start all
answer "... of a time" "None (2, 30.0)" prepared --to "$(at 900)"
check "as Markdown" poolscope report --format md -o "$TMP/report.md"
check "... it names the start" grep -q "start of $SECOND, 2nd of 2, with 1 node" "$TMP/report.md"
check_status 1 "a start before the first" poolscope report --start "$(at -10)" -o "$TMP/none.html"
check_printed "... is an error" "the first start began later"
wrong_usage "a start and a time" "start: is a window of its own" poolscope report --start newest --from -1h -o "$TMP/none.html"
