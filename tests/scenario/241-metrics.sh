#!/bin/sh
# Now is 0.  acct$pool has two nodes.  n1 did work:step from -100 to -90 (10 s) and from -60 to
# -40 (20 s), and began a third one at 1800, by a clock that is half an hour ahead: it is live,
# however long this takes.  n2 began at -3000 and
# ended at -2970 (30 s); its agent had 5,000 bytes in its spool at -2000 and its clock was 1.5 s
# behind then: heard at -1998.5, more than 10 and less than 60 min ago: silent.
#
# So of work:step there are 3 durations, 10 + 20 + 30 = 60 s: none takes at most 3 s, one at most
# 10 s, all at most 30 s and more; one start is open, no end.  7 events, 2 samples, and 2 entities: the definitions of two metric
# groups.  other$pool has one node, live, with 1 event, in no phase.
#
# The numbers are those of the commands.  Then the aggregator is killed, and starts again:
# nothing that is a counter is less than before; with one more duration, of 5 s, there are 4, of
# 65 s.  A batch more was received for each time that records were sent: 3, then 4.
# When it is away, that is what the metrics say, with status 1.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

aggregate_steps
records <<-'END'
	event -3000 n2 work:start
	event -2970 n2 work:end
	group n2 self poolscope.agent.spool.unacked:By:gauge
	group n2 clock poolscope.clock.offset:ns:gauge
	sample -2000 n2 self 5000
	sample -2000 n2 clock 1500000000
END
records <<-'END'
	event -100 n1 work:start
	event -90 n1 work:end
	event -60 n1 work:start
	event -40 n1 work:end
	event 1800 n1 work:start
END
PARTITION='other$pool'
records <<-'END'
	event 1800 o1 work:other
END

# series NAME [OPTION...]: of a family, without comments, sorted.
series() {
	_family=$1
	shift
	timeout 60 poolscope stats metrics "$@" >"$TMP/metrics" || return
	grep "^${_family}[ {_]" "$TMP/metrics" | LC_ALL=C sort
}
answer "nodes by state" 'poolscope_pool_nodes_known{partition="acct$pool"} 2
poolscope_pool_nodes_known{partition="other$pool"} 1
poolscope_pool_nodes{partition="acct$pool",state="gone"} 0
poolscope_pool_nodes{partition="acct$pool",state="imported"} 0
poolscope_pool_nodes{partition="acct$pool",state="late"} 0
poolscope_pool_nodes{partition="acct$pool",state="live"} 1
poolscope_pool_nodes{partition="acct$pool",state="silent"} 1
poolscope_pool_nodes{partition="acct$pool",state="stopped"} 0
poolscope_pool_nodes{partition="other$pool",state="gone"} 0
poolscope_pool_nodes{partition="other$pool",state="imported"} 0
poolscope_pool_nodes{partition="other$pool",state="late"} 0
poolscope_pool_nodes{partition="other$pool",state="live"} 1
poolscope_pool_nodes{partition="other$pool",state="silent"} 0
poolscope_pool_nodes{partition="other$pool",state="stopped"} 0' series poolscope_pool_nodes
answer "records" 'poolscope_records{partition="acct$pool",kind="entity"} 2
poolscope_records{partition="acct$pool",kind="event"} 7
poolscope_records{partition="acct$pool",kind="gap"} 0
poolscope_records{partition="acct$pool",kind="rejected"} 0
poolscope_records{partition="acct$pool",kind="sample"} 2
poolscope_records{partition="acct$pool",kind="span"} 0' series poolscope_records -p 'acct$*'
answer "the newest record" "poolscope_pool_newest_record_timestamp_seconds{partition=\"acct\$pool\"} $((BASE + 1800))" \
	series poolscope_pool_newest_record_timestamp_seconds -p 'acct$pool'
answer "the sum of the durations" 'poolscope_phase_duration_seconds_sum{partition="acct$pool",phase="work:step"} 60' \
	series poolscope_phase_duration_seconds_sum
answer "... and their number" 'poolscope_phase_duration_seconds_count{partition="acct$pool",phase="work:step"} 3' \
	series poolscope_phase_duration_seconds_count
answer "... how many took at most that long" "0.1 0
0.3 0
1.0 0
3.0 0
10.0 1
30.0 3
60.0 3
120.0 3
300.0 3
600.0 3
1800.0 3
3600.0 3
+Inf 3" sh -c "poolscope stats metrics | sed -n 's/^poolscope_phase_duration_seconds_bucket{.*le=.\([0-9.+Inf]*\).} /\1 /p'"
answer "what is open" 'poolscope_phase_open{partition="acct$pool",phase="work:step",unmatched="end"} 0
poolscope_phase_open{partition="acct$pool",phase="work:step",unmatched="start"} 1' series poolscope_phase_open
# rows [OPTION...]: the same numbers as the text has, from the rows of an answer.
rows() {
	poolscope stats metrics --format json "$@" >"$TMP/rows.json" && poolscope stats metrics "$@" >"$TMP/text" &&
		/usr/bin/python3 -c 'import json, re, sys
rows = json.load(open(sys.argv[1]))["rows"]
of = lambda row: {"kind" if key == "record" else key: row[key] for key in
    ("partition", "node", "place", "phase", "model", "group", "state", "record", "le", "unmatched", "reason", "version") if row[key] is not None}
text = [re.fullmatch(r"([a-z_0-9]+)(?:{(.*)})? (.*)", line.rstrip()).groups() for line in open(sys.argv[2]) if line[0] != "#"]
wanted = [(name, dict(re.findall(r"([a-z]+)=\"([^\"]*)\"", labels or "")), float(value)) for name, labels, value in text]
moving = lambda all: [each for each in all if not re.search("journal|tables|rejected_bytes", each[0])]
got = [(row["metric"], of(row), float("nan") if row["value"] is None else float(row["value"])) for row in rows]
assert len(got) == len(wanted) > 30, (len(got), len(wanted))
for a, b in zip(moving(got), moving(wanted)):
    assert repr(a) == repr(b), (a, b)
print(*sorted({row["kind"] for row in rows}))' "$TMP/rows.json" "$TMP/text"
}
answer "the rows are the same numbers" "counter gauge histogram info" rows
answer "... of one pool, and its nodes" "counter gauge histogram info" rows -p 'acct$pool' --metrics nodes
answer "a few columns" 'metric,partition,state,value,unit,kind
poolscope_pool_nodes_known,other$pool,,1.0,,gauge' sh -c "poolscope stats metrics --format csv --columns metric,partition,state,value,unit,kind -p 'other\$pool' | sed -n '1p; /nodes_known/p'"
check_status 1 "rows of no pool" poolscope stats metrics --format json -p 'acct$none'
check_printed "... are refused" 'no partition matches acct.none'
check_status 2 "two formats" poolscope stats metrics --prometheus --format csv
check_printed "... exclude each other" 'prometheus is a format of its own'
answer "no node" "" sh -c 'poolscope stats metrics | grep "^poolscope_node_" || true'
answer "each node when it was heard" "poolscope_node_heard_timestamp_seconds{partition=\"acct\$pool\",node=\"n1\"} $((BASE + 1800))
poolscope_node_heard_timestamp_seconds{partition=\"acct\$pool\",node=\"n2\"} $((BASE - 1999)).5
poolscope_node_heard_timestamp_seconds{partition=\"other\$pool\",node=\"o1\"} $((BASE + 1800))" \
	series poolscope_node_heard_timestamp_seconds --metrics nodes
answer "its state" 'poolscope_node_state{partition="acct$pool",node="n1"} 0
poolscope_node_state{partition="acct$pool",node="n2"} 2' series poolscope_node_state --metrics nodes -p 'acct/pool'
answer "its spool, where it is known" 'poolscope_node_spool_bytes{partition="acct$pool",node="n2"} 5000' \
	series poolscope_node_spool_bytes --metrics nodes
answer "... and clock" 'poolscope_node_clock_offset_seconds{partition="acct$pool",node="n2"} 1.5' \
	series poolscope_node_clock_offset_seconds --metrics nodes
answer "nothing is left out" "poolscope_nodes_left_out 0
poolscope_partitions_left_out 0
poolscope_series_left_out 0" sh -c 'poolscope stats metrics --metrics nodes | grep "^[a-z_]*_left_out " | LC_ALL=C sort'
check_text "OpenMetrics has an end" "# EOF" "$(tail -n 1 "$TMP/metrics")"
answer "what was received" "3" sh -c "poolscope stats metrics | sed -n 's/^poolscope_batches_received_total{.*} //p'"
poolscope stats metrics >"$TMP/before"
check "into a file, in the older format" poolscope stats metrics -o "$TMP/poolscope.prom" --prometheus
check_status 1 "... which has no end" grep -q EOF "$TMP/poolscope.prom"
check_text "... and the same samples" "$(grep -v '^#' "$TMP/before")" "$(grep -v '^#' "$TMP/poolscope.prom")"

# fallen BEFORE AFTER: prints the counters that are less than before, or gone.
fallen() {
	/usr/bin/python3 -c 'import re, sys
def read(path):
    lines = (line.rpartition(" ") for line in open(path) if line[0] != "#")
    return {name: float(value) for name, _, value in lines if re.search("_(total|count|sum|bucket)[{ ]", name + " ")}
before, after = read(sys.argv[1]), read(sys.argv[2])
assert len(before) == 4 + 13, before
print(*(name for name in before if after.get(name, -1) < before[name]))' "$@"
}
stop aggregator KILL
check_status 1 "the aggregator is away" poolscope stats metrics --connect "ipc://$DIR/run/reader.ipc"
check_printed "... is what the metrics say" "^poolscope_up 0$"
check_printed "... with a sentence" "is the aggregator running"
check_status 1 "... into the file, too" poolscope stats metrics --connect "ipc://$DIR/run/reader.ipc" -o "$TMP/poolscope.prom" --prometheus
check_text "... alone" "poolscope_up 0" "$(grep -v '^#\|_build' "$TMP/poolscope.prom")"
check_status 1 "... has no rows" poolscope stats metrics --format json --connect "ipc://$DIR/run/reader.ipc"
check_printed "... and the sentence" "is the aggregator running"
aggregate --models "$TMP/models"
poolscope stats metrics >"$TMP/after"
check_text "no counter falls" "" "$(fallen "$TMP/before" "$TMP/after")"
PARTITION='acct$pool'
records <<-'END'
	event -2000 n2 work:start
	event -1995 n2 work:end
END
poolscope stats metrics >"$TMP/later"
check_text "... later neither" "" "$(fallen "$TMP/after" "$TMP/later")"
check "a duration more is counted" grep -qxF 'poolscope_phase_duration_seconds_count{partition="acct$pool",phase="work:step"} 4' "$TMP/later"
check "... and added" grep -qxF 'poolscope_phase_duration_seconds_sum{partition="acct$pool",phase="work:step"} 65' "$TMP/later"
check "... with the batch" grep -q '^poolscope_batches_received_total{.*} 4$' "$TMP/later"
