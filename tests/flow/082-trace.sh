# Traces: everything of a pool on one time line, in every format, whole, cut to
# a job, a time, some nodes, a size.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
pool=mybatchacct\$gpupool
here=acct\$here
judge=$ROOT/tests/flow/trace_judge.py
POOLSCOPE_PERIOD=100ms
export POOLSCOPE_PERIOD

# Whatever happens, nothing stays behind.
trap 'poolscope down; _end' EXIT

# holds NAME FILE PYTHON: the expression holds for the trace.
holds() {
	check "$1" /usr/bin/python3 "$judge" says "$2" "$3"
}

# ---- wrong usage, and nothing there ----
check_status 2 "a trace without a file" poolscope-trace
check_status 2 "a name that says no format" poolscope-trace -o x.txt
check_printed "says which there are" ".trace or .json, .json.gz, .tar.gz, .pftrace"
check_status 2 "another view" poolscope-trace -o x.json pie
check_status 2 "an unknown kind" poolscope-trace -o x.json --kind entity
check_printed "says which there are" "not one of event, sample, span, phase"
for nodes in best:3 worst: worst:0 worst:70000 worst:x; do
	check_status 2 "--nodes $nodes" poolscope-trace -o x.json --nodes $nodes
done
check_status 1 "no instance, no store" poolscope-trace -o "$TMP/x.json" -p "$pool"
check "leaves no file" test ! -e "$TMP/x.json"

# ---- a pool that got ready, and one with an agent ----
check "an instance with an agent" env POOLSCOPE_PARTITION="$here" poolscope up --agent
check "rows are imported" poolscope-import cascade \
	"$ROOT/tests/golden/cascade/p02_pool8_p2p_private/entities.jsonl"
check "a job of spans is imported" poolscope-import -p "acct\$scan" scanner \
	"$ROOT/tests/golden/scanner/s02_two_workers/db" --job 3
check "pulls that overlap, one without an end, an end without its start" \
	poolscope-import cascade /dev/stdin <<ROWS
{"PartitionKey":"odd\$pool","RowKey":"1508000100","Event":"cascade:pull-start","NodeId":"node10","Message":"img=a"}
{"PartitionKey":"odd\$pool","RowKey":"1508000101","Event":"cascade:pull-start","NodeId":"node10","Message":"img=b"}
{"PartitionKey":"odd\$pool","RowKey":"1508000104","Event":"cascade:pull-end","NodeId":"node10","Message":"img=a,size=5MB"}
{"PartitionKey":"odd\$pool","RowKey":"1508000105","Event":"cascade:pull-end","NodeId":"node10","Message":"img=b"}
{"PartitionKey":"odd\$pool","RowKey":"1508000102","Event":"cascade:pull-start","NodeId":"node9","Message":"img=c"}
{"PartitionKey":"odd\$pool","RowKey":"1508000103","Event":"cascade:save-end","NodeId":"node9","Message":"img=c"}
{"PartitionKey":"odd\$pool","RowKey":"1508000103.5","Event":"cascade:load-start","NodeId":"node9","Message":"img=d"}
{"PartitionKey":"odd\$pool","RowKey":"1508000103.25","Event":"cascade:load-end","NodeId":"node9","Message":"img=d"}
ROWS
# Intervals that overlap in part, have no length, end before they begin.
/usr/bin/python3 - "$ROOT/tests/golden/scanner/s10_generated_1m" "$TMP/db" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import gen
far = 5 * 10**18
spans = [('a', 0, 100), ('b', 50, 150), ('back', 300, 200), ('none', 400, 400), ('outer', 500, 900),
         ('inner', 500, 600), ('far', 700, far)]
gen.write_job(sys.argv[2], 1, 'odd', {0: gen.p_worker(0, far, 0, (spans, {}), [], [], [])}, 1)
PYTHON
check "spans that are odd" poolscope-import -p "acct\$odd" scanner "$TMP/db" --job 1
check "a job begins" poolscope job start 4711 -p "$here" --wait stored
check "time goes on" wait_until \
	"[ \"\$(poolscope-dump -p '$here' --kind sample --name cpu | wc -l)\" -ge 20 ]" 30
check "the job ends" poolscope job stop 4711 -p "$here" --wait stored
wait_until indexed || exit 1

# ---- every format holds the same ----
for what in "$pool pool" "acct\$scan scan" "odd\$pool odd" "acct\$odd spans"; do
	partition=${what% *}
	name=${what#* }
	for ending in trace json json.gz tar.gz pftrace; do
		check "$name as $ending" poolscope-trace -q -p "$partition" -o "$TMP/$name.$ending"
	done
	check ".trace and .json are the same" cmp "$TMP/$name.trace" "$TMP/$name.json"
	poolscope-trace -q -p "$partition" -o - >"$TMP/piped"
	check "so is standard output" cmp "$TMP/piped" "$TMP/$name.json"
	poolscope-trace -q -p "$partition" --format pftrace -o - >"$TMP/piped"
	check "or of a format that is named" cmp "$TMP/piped" "$TMP/$name.pftrace"
	gzip -dc "$TMP/$name.json.gz" >"$TMP/unzipped"
	check ".json.gz is the same zipped" cmp "$TMP/unzipped" "$TMP/$name.json"
	check_text "the archive has one member" "$name.trace" "$(tar tzf "$TMP/$name.tar.gz")"
	tar xzOf "$TMP/$name.tar.gz" >"$TMP/member"
	check "which is the same" cmp "$TMP/member" "$TMP/$name.json"
	check "the protocol buffers can be read" sh -c \
		"/usr/bin/python3 $ROOT/tests/unit/exporters/trace/perfetto_judge.py $TMP/$name.pftrace >$TMP/judged"
	check "and say the same" /usr/bin/python3 "$judge" same "$TMP/$name.json" "$TMP/judged"
	check "no two intervals of a row overlap in part" \
		/usr/bin/python3 "$judge" nests "$TMP/$name.json"
	poolscope-dump -p "$partition" --kind event,span,phase >"$TMP/dump"
	check "every record is in it, and nothing else" \
		/usr/bin/python3 "$judge" holds "$TMP/$name.json" "$TMP/dump"
done
holds "a node is a process, and so is the pool" "$TMP/pool.json" 'len(process) == 9'
holds "workers are processes of their nodes" "$TMP/scan.json" \
	'{"0: Worker 0", "1: Worker 1", "master: Master"} <= set(process.values())'
holds "and rows are sorted as the entities say" "$TMP/scan.json" \
	'[n for s, n in sorted((int(e["args"]["sort_index"]), thread[int(e["pid"]), int(e["tid"])])
	for e in M if e["name"] == "thread_sort_index" and process[int(e["pid"]), 0] == "0: Worker 0")][:2]
	== ["EventLoop", "Reader[0]"]'
holds "pulls at the same time have rows of their own" "$TMP/odd.json" \
	'{thread[int(e["pid"]), int(e["tid"])]: (e["name"], e["ts"], e["dur"], e["args"].get("size")) for e in X
	if process[int(e["pid"]), 0] == "node10"} ==
	{"cascade pull": ("pull a", 0, 4000000, "5MB"), "cascade pull (2)": ("pull b", 1000000, 4000000, None)}'
holds "what has no end goes to the end of the trace" "$TMP/odd.json" \
	'[(e["ts"], e["ts"] + e["dur"]) for e in X if "poolscope.no_end" in e["args"]] ==
	[(2000000, Decimal("5000000.001")), (3500000, Decimal("5000000.001"))]'
holds "an end without its start is a point" "$TMP/odd.json" \
	'sorted((e["name"], e["ts"]) for e in I if "poolscope.no_start" in e["args"]) ==
	[("load d", 3250000), ("save c", 3000000)]'
holds "a span that ends before it begins is marked" "$TMP/spans.json" \
	'[(e["ts"], e["dur"]) for e in X if "poolscope.ends_before_it_starts" in e["args"]] ==
	[(Decimal("0.3"), 0)]'
holds "spans in part at the same time have rows of their own" "$TMP/spans.json" \
	'{e["name"]: thread[int(e["pid"]), int(e["tid"])] for e in X if e["name"] in ("a", "b", "outer", "inner", "far")} ==
	{"a": "EventLoop", "b": "EventLoop (2)", "outer": "EventLoop", "inner": "EventLoop", "far": "EventLoop (2)"}'
holds "node9 comes before node10" "$TMP/odd.json" \
	'[process[int(e["pid"]), 0] for e in sorted((e for e in M if e["name"] == "process_sort_index"),
	key=lambda e: e["args"]["sort_index"])] == ["node9", "node10"]'
# shellcheck disable=SC2016 # the $ is a partition's
holds "the base is named" "$TMP/odd.json" \
	't["otherData"]["base"] == "2017-10-14T16:55:00.000000000Z" and
	t["otherData"]["partition"] == "odd$pool"'

# ---- samples and jobs ----
check "a machine with an agent" poolscope-trace -p "$here" -o "$TMP/here.json"
holds "has counters as rates, of processors in per cent of those of the node" "$TMP/here.json" \
	'any(e["name"] == "cpu system.cpu.time.user" and "%" in e["args"] for e in C)'
holds "has gauges" "$TMP/here.json" 'any("By" in e["args"] for e in C)'
holds "and its job" "$TMP/here.json" '[e["name"] for e in X] == ["4711"]'
check "that job alone" poolscope-trace -p "$here" --job 4711 -o "$TMP/job.json"
holds "is named" "$TMP/job.json" 't["otherData"]["job"] == "4711"'
holds "has nothing behind it" "$TMP/job.json" \
	'max(e["ts"] for e in C + I) <= X[0]["ts"] + X[0]["dur"]'
check "one metric" poolscope-trace -p "$here" --kind sample -m '*.time.idle' -o "$TMP/idle.json"
holds "is one" "$TMP/idle.json" '{e["name"].split()[1] for e in C} == {"system.cpu.time.idle"} and not X + I'
check_status 1 "a job that never was" poolscope-trace -p "$here" --job 17 -o "$TMP/none.json"
check "leaves no file" test ! -e "$TMP/none.json"

# ---- a part of the time, of the nodes, of the bytes ----
check "from and to" poolscope-trace -p "odd\$pool" --from 1508000101 --to 1508000104 -o "$TMP/cut.json"
holds "cut what reaches out, and say so" "$TMP/cut.json" \
	'sorted((e["name"], e["ts"], e["dur"], e["args"].get("poolscope.begin"), e["args"].get("poolscope.end"))
	for e in X if e["name"] in ("pull a", "pull b")) == [
	("pull a", 0, 3000000, "2017-10-14T16:55:00.000000000Z", None),
	("pull b", 0, 3000000, None, "2017-10-14T16:55:05.000000000Z")]'
check "which still nest" /usr/bin/python3 "$judge" nests "$TMP/cut.json"
check "one node" poolscope-trace -p "odd\$pool" -n 'node1*' -o "$TMP/node.json"
holds "is one" "$TMP/node.json" 'set(process.values()) == {"node10"}'
check "the worst node" poolscope-trace -p "odd\$pool" --nodes worst:1 -o "$TMP/worst.json"
check_printed "is one of two" "the 1 worst of 2 nodes"
holds "is that with the longest phase, jobs apart" "$TMP/worst.json" 'set(process.values()) == {"node10"}'
check "both" poolscope-trace -p "odd\$pool" --nodes worst:2 -o "$TMP/worst.json"
holds "have the worst one first" "$TMP/worst.json" \
	'[process[int(e["pid"]), 0] for e in sorted((e for e in M if e["name"] == "process_sort_index"),
	key=lambda e: e["args"]["sort_index"])] == ["node10", "node9"]'
# Less than the worst node has: its time is cut.
one=$(/usr/bin/python3 -c 'import json, sys
print(sorted(e["args"]["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "process_name")[-1])' "$TMP/pool.json")
for format in json pftrace; do
	sizes="2500 3500 4500"
	[ $format = json ] || sizes="900 1100 1300"
	for size in $sizes; do
		check "at most $size bytes of a node as $format" poolscope-trace -p "$pool" -n "$one" \
			--max-size "$size" -o "$TMP/small.$format"
		check_printed "and from when to go on" "--from 20.*Z for the rest"
		[ $format = pftrace ] || check "are that" test "$(wc -c <"$TMP/small.$format")" -le "$size"
	done
done
/usr/bin/python3 "$ROOT/tests/unit/exporters/trace/perfetto_judge.py" "$TMP/small.pftrace" >"$TMP/judged"
check "a small one can be read" test -s "$TMP/judged"
poolscope-trace -q -p "$pool" -n "$one" -o "$TMP/one.json"
poolscope-trace -p "$pool" -n "$one" --max-size 3000 -o "$TMP/first.json" 2>"$TMP/err"
goes_on=$(sed -n 's/.*--from \([^ ]*\) for the rest.*/\1/p' "$TMP/err")
check "the rest of it" poolscope-trace -p "$pool" -n "$one" --from "$goes_on" -o "$TMP/rest.json"
check "has what the first lacks" /usr/bin/python3 -c 'import json, sys
whole, first, rest = (json.load(open(f)) for f in sys.argv[1:])
def points(t):
    base = int(t["otherData"]["base_ns"])
    return sorted((base + round(e["ts"] * 1000), e["name"]) for e in t["traceEvents"] if e["ph"] == "i")
assert points(first) and points(rest)
assert points(first) + points(rest) == points(whole)' "$TMP/one.json" "$TMP/first.json" "$TMP/rest.json"
check "of the worst nodes as many as fit" poolscope-trace -p "$pool" --nodes worst:8 \
	--max-size 10000 -o "$TMP/fit.json"
check_printed "and which do not" "[1-7] of 8 nodes are left out, the worst of them [^ ]*"
check "and it is small" test "$(wc -c <"$TMP/fit.json")" -le 10000
check_status 1 "too small for anything" poolscope-trace -p "$pool" --max-size 100 -o "$TMP/tiny.json"
check_printed "and the message says so" "--max-size is too small for any record"
check "and leaves no file" test ! -e "$TMP/tiny.json"

# ---- where it goes, and where it is from ----
ln -s /dev/full "$TMP/full.trace"
check_status 1 "a full disk" poolscope-trace -q -p "$pool" -o "$TMP/full.trace"
check_printed "and the message says so" "No space left"
mkfifo "$TMP/pipe.tar.gz"
(timeout 60 cat "$TMP/pipe.tar.gz" >/dev/null &)
check_status 1 "an archive into a pipe" timeout 60 poolscope-trace -q -p "$pool" -o "$TMP/pipe.tar.gz"
check_printed "and the message says so, too" "the output must be a regular file for tar"
poolscope down >/dev/null 2>&1
check "the store alone" poolscope-trace -q -p "$pool" -o "$TMP/store.json"
check "says the same" cmp "$TMP/store.json" "$TMP/pool.json"
