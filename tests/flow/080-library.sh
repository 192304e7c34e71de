#!/bin/sh
# libpoolscope in real programs, with a real pool: what they report is
# stored once, also when they fork or the agent is killed; what they could not
# report is counted.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
unset TRACEPARENT POOLSCOPE_SOCKET POOLSCOPE_NODE
client=$B/flow/client
pool='acct$pool'

# shellcheck source=tests/flow/stored.sh
. "$ROOT/tests/flow/stored.sh"
# numbers NAME: the samples of this number of a program: values and definition.
numbers() {
	poolscope-dump -p "$pool" --format jsonl -q | python3 -c 'import json, sys
records = [json.loads(line) for line in sys.stdin]
groups = {r["id"]: r["properties"] for r in records if r.get("entity") == "set"}
for r in records:
    p = groups[r["set"]] if r["kind"] == "sample" else {}
    if sys.argv[1] in p.get("names", "").split():
        print(r["values"][p["types"].startswith("gauge counter"):], *(p[k] for k in ("names", "units", "types")))' "$1"
}
start_agent() {
	# It must not hold the ends of our pipes.
	start agent poolscope-agent --no-samples -p "$pool" -n node1 7>&- 8<&-
}

# ---- without an agent
check "a program runs without an agent" "$client" alone
check_printed "... and the message says so" "no agent"
check_text "... once" 1 "$(grep -c "no agent" "$TMP/err")"
check_text "... what it recorded is counted as lost" "1 0 1" "$(cat "$TMP/out")"

# ---- with a pool
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start_agent || exit 1
check "one of everything" "$client" tour
cp "$TMP/out" "$TMP/tour"
settle
trace=$(sed -n '1s/^00-\([0-9a-f]\{32\}\)-[0-9a-f]\{16\}-01$/\1/p' "$TMP/tour")
inner=$(sed -n '2s/^00-[0-9a-f]\{32\}-\([0-9a-f]\{16\}\)-01$/\1/p' "$TMP/tour")
check_text "spans stand at their thread, within their span" \
	"client/decoder video outer None
client/decoder  inner outer" \
	"$(stored span 'r["track"], r["category"], r["name"], next((
json.loads(l)["name"] for l in open(sys.argv[1])
if json.loads(l)["attributes"]["span.id"] == r["attributes"].get("parent.id")), None)' \
	'r["name"] in ("outer", "inner")' | sort -r)"
check_text "... as other programs get them" "$trace $inner" \
	"$(stored span 'r["attributes"]["trace.id"], r["attributes"]["span.id"]' 'r["name"] == "inner"')"
check_text "attributes keep their types, the last of a key counts, bad ones are repaired" \
	'{"bad?": "?", "codec": "h264", "frames": 31, "key": true, "ratio": 0.5}' \
	"$(stored span 'json.dumps({k: v for k, v in r["attributes"].items() if "." not in k}, sort_keys=True)' \
		'r["name"] == "inner"')"
check_text "an event is of the span it happens in" "client seen $inner" \
	"$(stored event 'r["source"], r["name"], r["attributes"]["span.id"]' 'r["source"] == "client"')"
check_text "a span goes on with another program's trace" \
	"0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" \
	"$(stored span 'r["attributes"]["trace.id"], r["attributes"]["parent.id"]' 'r["name"] == "far"')"
check_text "... and nonsense begins a new one" True \
	"$(stored span "r['attributes']['trace.id'] != '$trace' and 'parent.id' not in r['attributes']" 'r["name"] == "apart"')"
check_text "a thread's other name holds from there on; a nameless span has a name" \
	"client/a_b?c" "$(stored span 'r["track"]' 'r["name"] == "?"')"
check_text "a gauge is stored as one" "[7.5] queue By gauge" "$(numbers queue)"
check_text "a counter, too, which begins with 0" "[0.0] poolscope.boot frames 1 gauge counter
[5.0] poolscope.boot frames 1 gauge counter" "$(numbers frames)"
check_text "... and its statistics are of its rate: 5 in the time between the two" \
	"queue By 1 7.500000 7.500000 7.500000
frames  1 $(poolscope-dump -p "$pool" --format jsonl -q | python3 -c 'import json, sys
a, b = [r["time_ns"] for r in map(json.loads, sys.stdin) if r["kind"] == "sample" and r["values"][1:] in ([0.0], [5.0])]
print(*["%.6f" % (5e9 / (b - a))] * 3)')" \
	"$(poolscope-stats samples -p "$pool" --metric-group 'app/*' --by node --format csv | tr -d '\r' |
		awk -F, 'NR > 1 { printf "%s %s %s %.6f %.6f %.6f\n", $2, $4, $5, $6, $7, $10 }' | sort -r)"
check_text "a track says how it is shown" \
	"node1/client/decoder {'node': 'node1', 'track': 'client/decoder', 'name': 'decoder', 'sort': 0, 'process': 'client'}" \
	"$(stored entity 'r["id"], r["properties"]' 'r["id"] == "node1/client/decoder"')"
check "a program within a trace" env TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 \
	POOLSCOPE_NODE=other "$B/flow/scopes"
settle
check_text "... is part of it, in C++, of the node it says" \
	"other 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7" \
	"$(stored span 'r["node"], r["attributes"]["trace.id"], r["attributes"]["parent.id"]' 'r["name"] == "whole"')"
check_text "... and spans end with their scope, also by an exception" "2 True" \
	"$(stored span 'r["name"], r["attributes"]["bad"]' 'r["name"] == "step"' |
		awk '{ n++; bad = bad $2 } END { print n, bad ~ /True/ ? "True" : bad }')"

# ---- spans that overlap, and that are over
check "spans overlap" "$client" overlap
cp "$TMP/out" "$TMP/overlap"
settle
of() {
	stored span "r['name'], r['track'], next((p['name'] for p in map(json.loads, open(sys.argv[1]))
if p['attributes']['span.id'] == r['attributes'].get('parent.id')), None)" "r['name'] in '$1'.split()" | sort
}
check_text "... each on its track, within its span" "a client/lane 1 around
alone client/a_b?lane None
around client/main None
b client/lane 2 around
c client/lane 1 a
past client/done around
then client/done a
turned client/main around" "$(of 'a alone b c around past then turned')"
check_text "... in any order of their ends" "a c b alone" \
	"$(stored span 'r["end_ns"], r["name"]' 'r["name"] in ("a", "b", "c", "alone")' | sort -n | sed 's/.* //' | tr '\n' ' ' | sed 's/ $//')"
check_text "... with their attributes" "c 7
past 7" "$(stored span 'r["name"], r["attributes"]["bytes"]' '"bytes" in r["attributes"]' | sort)"
check_text "an event is of the span that it names" "of around None around
of b 7 b
of nothing None None" "$(poolscope-dump -p "$pool" --kind span --format jsonl -q >"$TMP/spans"
	stored event "r['name'], r['attributes'].get('bytes'), next((p['name'] for p in map(json.loads, open('$TMP/spans'))
if p['attributes']['span.id'] == r['attributes'].get('span.id')), None)" "r['name'].startswith('of ')" | sort)"
check_text "a span that is over has no context" "1 1" \
	"$(grep -c '^00-' "$TMP/overlap") $(grep -c '^$' "$TMP/overlap")"
check_text "what was before is when it was" "past 5000000000 7000000000
then 8000000000 9000000000
turned 7000000000 7000000000" "$(stored span 'r["name"], r["begin_ns"], r["end_ns"]' 'r["begin_ns"] < 10**10' | sort)"
check_text "tracks of spans are shown after those of threads" "a_b?lane done lane 1 lane 2 main" \
	"$(stored entity 'r["properties"]["name"]' 'r["entity"] == "track" and (r["properties"]["sort"] >= 1024) == (r["properties"]["name"] != "main") and r["properties"]["name"] in ("main", "done", "lane 1", "lane 2", "a_b?lane")' |
		sort -u | tr '\n' ' ' | sed 's/ $//')"

# ---- samples: the name of a group is worked out as proto/wire.md says
check "samples" "$client" samples
settle
cat >"$TMP/samples.py" <<'PY'
import hashlib
import json
import sys

records = [json.loads(line) for line in sys.stdin]
groups = {r["id"]: r["properties"] for r in records if r.get("entity") == "set"}
for r in records:
    if r["kind"] != "sample" or not r["set"].startswith("app/client/"):
        continue
    p = groups[r["set"]]
    texts = [p.get(k, "") for k in ("labels", "names", "units", "types")]
    digest = hashlib.blake2b("".join(t + "\n" for t in texts).encode(), digest_size=16).hexdigest()[:12]
    if r["set"] == "app/client/" + digest:
        began = texts[1].startswith("poolscope.boot")
        assert not began or r["values"][0] > 10**18
        shown = texts if len(texts[1]) < 100 else [len(t.split()) for t in texts]
        print(*shown, r["values"][began:] if len(r["values"]) < 10 else sum(r["values"]), sep="|")
PY
check_text "numbers of one moment are a group that its definition names; so is a counter" \
	'|queue|By|gauge|[7.5]
|poolscope.boot frames|1|gauge counter|[0.0]
|poolscope.boot frames|1|gauge counter|[5.0]
{"last":"true","rank":"3","ratio":"0.5","who":"Zoë ?"}|poolscope.boot a_b? tokens loss|1 1 By|gauge gauge counter gauge|[1.0, 512.0, 0.25]
{"last":"true","rank":"3","ratio":"0.5","who":"Zoë ?"}|poolscope.boot a_b? tokens loss|1 1 By|gauge gauge counter gauge|[1.0, 512.0, 0.25]
|loss||gauge|[0.5]
0|128|128|128|8128.0' \
	"$(poolscope-dump -p "$pool" --format jsonl -q | python3 "$TMP/samples.py")"

# ---- sixteen threads
check "sixteen threads" "$client" threads 16 200
settle
check_text "... all their spans are there, once" "3200 3200" \
	"$(stored span 'r["track"] + r["name"]' 'r["track"].startswith("client/worker")' |
		sort | uniq -c | awk '{ n += $1; d++ } END { print n, d }')"
check_text "... each thread's in its own order" True \
	"$(stored span 'r["track"], r["begin_ns"], r["attributes"]["i"]' 'r["track"].startswith("client/worker")' |
		sort -s -k2,2n -k3,3n | awk 'BEGIN { w = -1 } $2 != w { i = -1 } $4 != i + 1 { bad = 1 }
			{ w = $2; i = $4 } END { print bad ? "False" : "True" }')"

# ---- fork
# TSan ends a process in which a thread begins after a fork from many.
if [ "${VARIANT:-release}" != tsan ]; then
	check "a program forks" "$client" fork
	settle
	check_text "... what each process did is stored once, the parent's span as the parent's" \
		"across 1
after 1
before 1
child 1" "$(stored span 'r["name"]' 'r["category"] == "fork"' | sort | uniq -c | awk '{ print $2, $1 }')"
	check_text "... and the child's is within it, of another process" "True True" \
		"$(stored span 'r["attributes"]["span.id"], r["attributes"].get("parent.id"), r["attributes"]["process.pid"], r["name"]' \
			'r["category"] == "fork"' | awk '
			$4 == "across" { id = $1; pid = $3 } $4 == "child" { parent = $2; other = $3 }
			END { print id == parent ? "True" : "False", pid != other ? "True" : "False" }')"
fi

# ---- the agent is killed and comes back
mkfifo "$TMP/in" "$TMP/answers"
"$client" steady <"$TMP/in" >"$TMP/answers" 2>"$TMP/steady.err" &
steady=$!
exec 7>"$TMP/in" 8<"$TMP/answers"
sent=0
# say N: N spans, each answered.
say() {
	_n=$1
	while [ "$_n" -gt 0 ]; do
		sent=$((sent + 1))
		_n=$((_n - 1))
		echo "steady $sent" >&7
		read -r _ <&8
	done
}
kills="1 2 3 4"
[ "${VARIANT:-release}" != valgrind ] || kills="1 2"
for _ in $kills; do
	say 100
	stop agent KILL
	say 50
	start_agent || exit 1
done
echo flush >&7
read -r answer <&8
check_text "a program whose agent was killed goes on" "done" "$answer"
exec 7>&-
check "... and ends well" wait "$steady"
exec 8<&-
settle
check_text "... its spans are there, once" "$sent $sent" \
	"$(stored span 'r["name"]' 'r["name"].startswith("steady")' | sort | uniq -c |
		awk '{ n += $1; d++ } END { print n, d }')"

# ---- a full ring
stop agent
"$client" full 2000 >"$TMP/full" 2>"$TMP/full.err" &
full=$!
check "a program has more to say than its rings hold" \
	wait_until "grep -q 'no agent' $TMP/full.err" 20
start_agent || exit 1
check "... and goes on when an agent comes" wait "$full"
settle
read -r recorded dropped lost <"$TMP/full"
arrived=$(stored span 'r["name"]' 'r["category"] == "work" and "." in r["name"] and not r["track"].endswith("x")' | wc -l)
arrived=$((arrived - 3200))
check "... it dropped some" test "$dropped" -gt 0
check_text "... and counted them: what was recorded arrived or was dropped" \
	"8000 0 8000" "$recorded $lost $((arrived + dropped))"
check_text "... and the store says how many" "$dropped" \
	"$(stored gap 'r["count"]' 'r["class"] == "span" and r["reason"] == "full"' |
		awk '{ n += $1 } END { print n + 0 }')"
check "the agent stops" stop agent
