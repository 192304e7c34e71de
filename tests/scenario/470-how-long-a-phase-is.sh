#!/bin/sh
# How long a phase is, by one rule: what its end event measured, else end minus begin.
#
# Four nodes load an image each:
#
#	n1	from 10 to 12; the start says diff=5, the end nothing:	 2 s
#	n2	from 20 to 30; the end says diff=3, in 3 KiB of text:	 3 s
#	n3	from 40 to 46; the end says diff=-4, no duration:	 6 s
#	n4	from 60 to 62; the end says diff=5:			 5 s
#
# So there are 4 with 16 s, 4 s each; the deviations are -2, -1, 2 and 1 s: squared 10, of
# all 4 the root of 2.5, of a sample the root of 10 / 3.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
/usr/bin/python3 - <<'END' | records
for i in range(1, 5):
    print("event", i, "n%d nodeprep:start" % i)
    print("event", i + 2, "n%d nodeprep:end" % i)
    print("event", i + 2, "n%d cascade:start" % i)
    print("event 100 n%d cascade:gr-done" % i)
text = "note=" + 3000 * "x"
for node, at, event, message in (
        ("n1", 10, "start", "img=a,diff=5"), ("n1", 12, "end", "img=a"),
        ("n2", 20, "start", "img=b"), ("n2", 30, "end", "img=b,diff=3," + text),
        ("n3", 40, "start", "img=c"), ("n3", 46, "end", "img=c,diff=-4"),
        ("n4", 60, "start", "img=d"), ("n4", 62, "end", "img=d,diff=5")):
    print("event", at, node, "cascade:load-" + event, "message=" + message)
END
start web poolscope-web --listen 127.0.0.1:0 || exit 1
# shellcheck disable=SC2016 # is evaluated later
wait_until 'grep -q "^http://" "$TMP/web.log"'
PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/#k=.*|\1|p' "$TMP/web.log")
TOKEN=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
export PORT TOKEN

POOL=$(printf %s "$PARTITION" | sed 's/\$/%24/')

# read_json FILE CODE: of a JSON answer; `load` is its row of phase cascade:load, `bands`
# the seconds of its nodes in that phase.
read_json() {
	/usr/bin/python3 -c 'import json, sys
of = json.load(open(sys.argv[1]))
def load(answer):
    return next(row for row in answer["rows"] if row["phase"] == "cascade:load")
def bands(answer):
    rows = answer["rows"]
    return dict(zip(rows["node"], rows["cascade:load"]))
exec(sys.argv[2])' "$@"
}
# client TARGET: what the page gets, to $TMP/got.
client() {
	python3 "$ROOT/tests/flow/web_client.py" get "/v1/pools/$POOL/$1" >"$TMP/got"
}

# sums OPTION...: count, sum, least, greatest, mean and deviations in each form.
sums() {
	poolscope-stats phases --name cascade:load "$@" >"$TMP/table" || return
	awk '$1 == "cascade:load" { print "table", $2, $3, $4, $5, $6 }' "$TMP/table"
	columns count,sum,min,max,mean,std_population,std_sample \
		poolscope-stats phases --name cascade:load --format csv "$@" || return
	poolscope-stats phases --name cascade:load --format json "$@" >"$TMP/phases.json" || return
	read_json "$TMP/phases.json" \
		'print(*(load(of)[name] for name in "count sum min max mean std_population std_sample".split()))'
}
page() {
	for _when in "" "?from=$(at 0)"; do
		client "phases$_when" || return
		read_json "$TMP/got" 'print(load(of)["count"], load(of)["sum"])' || return
	done
}
page_breakdown() {
	client "breakdown?shape=columns" || return
	read_json "$TMP/got" '[print(*row) for row in sorted(bands(of).items())]'
}
metrics() {
	poolscope-stats metrics >"$TMP/metrics" || return
	sed -n 's/^poolscope_phase_duration_seconds_\(sum\|count\){.*phase="cascade:load"} /\1 /p' "$TMP/metrics"
}
RECORDS="n1,2000000000,false
n2,3000000000,true
n3,6000000000,false
n4,5000000000,true"
dump() {
	poolscope-dump --kind phase --name cascade:load -o "$TMP/dump" || return
	/usr/bin/python3 -c 'import json, sys
for line in sorted(open(sys.argv[1]), key=lambda line: json.loads(line)["node"]):
    of = json.loads(line)
    print(of["node"], of["duration_ns"], json.dumps(of["measured"]), sep=",")' "$TMP/dump"
}
dump_csv() {
	columns node,duration_ns,measured poolscope-dump --kind phase --name cascade:load --format csv | sort
}
cascade() {
	poolscope-stats cascade --format json >"$TMP/cascade.json" || return
	read_json "$TMP/cascade.json" '[print("load:" + row["image"], row["seconds"]) for row in of["images"] if row["phase"] == "load"]'
}
# pictures TOPIC OPTION...: the column of the loads in the data of the bars.
pictures() {
	rm -rf "$TMP/drawn"
	poolscope-plot "$@" -q -o "$TMP/drawn" || return
	awk 'FNR == 1 { for (i = 1; i <= NF; i++) if (tolower($i) == "load") at = i; next }
		{ print $3, $at }' "$TMP"/drawn/*.dat
}
report() {
	poolscope-report --quiet -o "$TMP/r.html" 2>"$TMP/log" || return
	/usr/bin/python3 -c 'import base64, gzip, re, sys
text = open(sys.argv[1]).read()
sys.stdout.buffer.write(gzip.decompress(base64.b64decode(
    re.search(r"<script type=\"application/octet-stream\" id=\"data\">([^<]*)</script>", text).group(1))))' \
		"$TMP/r.html" >"$TMP/report.json" || return
	read_json "$TMP/report.json" 'sums, breakdown = (
    json.loads(of["answers"]["pools/acct$pool/" + route]) for route in ("phases", "breakdown"))
print(load(sums)["count"], load(sums)["sum"])
print(*[seconds for node, seconds in sorted(bands(breakdown).items())])'
}

# Of all time and of a window, in a table (two digits), CSV and JSON.
SUMS="table 4 2.00 6.00 4.00 1.58
4,16.0,2.0,6.0,4.0,1.5811388300841898,1.8257418583505538
4 16.0 2.0 6.0 4.0 1.5811388300841898 1.8257418583505538"
answer "what they add up to" "$SUMS" sums
answer "... of a window" "$SUMS" sums --from "$(at 0)"
answer "... in the page, of all time and of a window" "4 16.0
4 16.0" page
answer "... as metrics" "sum 16
count 4" metrics
answer "in the records" "$RECORDS" dump
answer "... as CSV" "$RECORDS" dump_csv
# Each node is ready when cascade:gr-done comes.
answer "in the sums of the start" "load:a 2.0
load:b 3.0
load:c 6.0
load:d 5.0" cascade
answer "in its pictures" "n1 2.000000
n2 3.000000
n3 6.000000
n4 5.000000" pictures cascade --no-png
answer "in the pictures of any model" "n1 2.000000
n2 3.000000
n3 6.000000
n4 5.000000" pictures phases --view breakdown --model cascade --no-png
timeline() {
	columns node,phase,duration poolscope-stats timeline --model cascade --lanes --format csv | sed -n 's/,cascade:load,/,/p' | sort
}
answer "in the timeline" "n1,2
n2,3
n3,6
n4,5" timeline
answer "in the breakdown" "n1,2.0
n2,3.0
n3,6.0
n4,5.0" columns node,cascade:load poolscope-stats breakdown --sort node --format csv
answer "... in the page" "n1 2.0
n2 3.0
n3 6.0
n4 5.0" page_breakdown
answer "in a report: sums, and the breakdown" "4 16.0
2.0 3.0 6.0 5.0" report
check "the statistics are those of the events" poolscope-admin verify
