#!/bin/sh
# Two runs, r1 from 0 to 9 and r2 from 2000 to 2009: a report until 1000 has r1 alone.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 0 n1 run:request run=alone-r1 device_group=phones
	event 1 n1 run:queue_end run=alone-r1
	event 9 n1 run:publish run=alone-r1
	event 2000 n1 run:request run=alone-r2 device_group=phones
	event 2001 n1 run:queue_end run=alone-r2
	event 2009 n1 run:publish run=alone-r2
END
# runs [OPTION...]: those that the report has.
runs() {
	poolscope-report --quiet -o "$TMP/r.html" "$@" 2>"$TMP/log" || return
	/usr/bin/python3 -c 'import base64, gzip, re, sys
text = open(sys.argv[1]).read()
data = b"".join(gzip.decompress(base64.b64decode(each)) for each in
    re.findall(r"<script type=\"application/octet-stream\" id=\"\w+\">([^<]*)</script>", text))
print(*sorted(set(re.findall(rb"alone-r\d", data))))' "$TMP/r.html"
}
answer "a report of all times has both runs" "b'alone-r1' b'alone-r2'" runs
answer "one until 1000 has the first" "b'alone-r1'" runs --to "$(at 1000)"
answer "one from 1000 on has the second" "b'alone-r2'" runs --from "$(at 1000)"
