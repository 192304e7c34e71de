#!/bin/sh
# poolscope.perf: recorded cases of the older program and images of /proc, judged as the agent's
# own reports are; the same sums as poolscope-stats perf; reports as samples in the store.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
golden=$ROOT/tests/golden/perf

# ---- by itself
check "recorded cases, and numbers by hand" env POOLSCOPE_DISABLE=1 LD_PRELOAD="$PRELOAD" "$PYTHON" \
	"$ROOT/tests/flow/python_perf.py" "$golden"
cp "$B/python/poolscope/perf.py" "$TMP/perf_alone.py"
check "the file alone does, too" sh -c 'cd "$1" && exec "$0" -c "import perf_alone
t = perf_alone.PerformanceReportingThread(0.01, 0.01)
t._run_loop()"' "$PYTHON" "$TMP"

# ---- images of /proc
{
	echo '#!/bin/sh'
	echo "exec env POOLSCOPE_DISABLE=1 LD_PRELOAD='$PRELOAD' '$PYTHON' '$golden/python_replay.py'" '"$@"'
} >"$TMP/replay"
chmod +x "$TMP/replay"
check "a recorded image is read" sh -c '"$1" --replay "$2" --print perf >"$3"' - \
	"$TMP/replay" "$golden/f01_two_cpu" "$TMP/reports.json"
check "... to the recorded reports" /usr/bin/python3 "$golden/oracle.py" compare \
	"$golden/f01_two_cpu/expected/reports.json" "$TMP/reports.json"
for i in 0 1; do
	mkdir -p "$TMP/bare/snap_$i"
	cp "$golden/f01_two_cpu/snap_00$i/stat" "$golden/f01_two_cpu/snap_00$i/meminfo" "$TMP/bare/snap_$i"
done
check "a container has no disk and no network" sh -c '"$1" --replay "$2" --print perf >"$3"' - \
	"$TMP/replay" "$TMP/bare" "$TMP/reports.json"
check "... and zeros for them" /usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))[0]
sys.exit(not (r["cpu_pct_per_cpu_max"] == 84.0 and r["mem_percent"] == 89.7 and
    all(r[k] == 0 for k in r if "_io_" in k or k == "disk_usage_percent")))' "$TMP/reports.json"
# judged NAME COMMAND...: of psutil, if it is there.
judged() {
	_name=$1
	shift
	/usr/bin/python3 "$golden/oracle.py" "$@" >"$TMP/out" 2>&1
	case $? in
	0) pass "$_name" ;;
	77) pass "$_name (no psutil to ask)" ;;
	*) fail "$_name" "$TMP/out" ;;
	esac
}
judged "images that are made up: psutil says the same" random "$TMP/replay" "$TMP/random" ${SEED:+"$SEED"}
judged "this machine: psutil says the same within a tick" live "$TMP/replay" "$TMP/live"

# ---- with a pool
start_pool
# Of 3000 reports 10 are kept; poolscope-stats has all of them.
program many.py <<'PY'
import json
import os
import random
import sys

from poolscope import perf

random.seed(int(os.environ.get("SEED", "1")))
keys = perf._PERCENT + perf._COUNTED
collector = perf.PerformanceMetricsCollector(10)
totals = dict.fromkeys(perf._COUNTED, 1000.0)
reports = []
for i in range(3000):
    for key in totals:
        totals[key] = random.random() if random.random() < 0.01 else totals[key] + random.random()
    reports.append({**{key: round(random.random() * 100, 1) for key in perf._PERCENT}, **totals,
                    "timestamp": 1650000000.0 + i})
    collector.append_perf_metrics(reports[-1])
json.dump({"0": reports}, open(sys.argv[1], "w"))


class Logger:
    def log_metric(self, key, value, step):
        print(json.dumps([key, value, step]))


plotter = perf.PerfReportPlotter(Logger())
plotter.add_perf_reports(collector.perf_reports, 0)
plotter.report_nodes_perf()
PY
check "reports are added up" py "$TMP/many.py" "$TMP/many.json"
cp "$TMP/out" "$TMP/ours"
check "... and imported" poolscope-import perf -p 'perf$many' "$TMP/many.json"
check "... to the store" wait_until "poolscope-stats perf -p 'perf\$many'" 30
check "... and added up there" poolscope-stats perf -p 'perf$many' --cpu-count "$("$PYTHON" -c 'import os; print(os.cpu_count())')" \
	--format json -o "$TMP/theirs"
check "eighteen numbers are the same" /usr/bin/python3 -c 'import json, math, sys
ours = [json.loads(line) for line in open(sys.argv[1])]
row = json.load(open(sys.argv[2]))["rows"][0]
assert row["reports"] == 3000
theirs = [[k, v, row["step"]] for k, v in row.items() if k not in ("node", "step", "reports")]
assert len(ours) == 18 and [(k, s) for k, _, s in ours] == [(k, s) for k, _, s in theirs], (ours, theirs)
for (k, a, _), (_, b, _) in zip(ours, theirs):
    assert math.isclose(a, b, rel_tol=1e-9), (k, a, b)' "$TMP/ours" "$TMP/theirs"

program job.py <<'PY'
import poolscope

from poolscope import perf

thread = perf.PerformanceReportingThread(0.01, 0.01)
for _ in range(3):
    thread._run_loop()
report = []
thread.callback_on_loop = report.append
thread._run_loop()
print(*(repr(report[0][key]) for key in ("mem_percent", "disk_usage_percent", "disk_io_read_mb")))
PY
check "reports are published" py "$TMP/job.py"
want=$(cat "$TMP/out")
settle
poolscope-dump -q -p "$pool" --kind sample --format long -o "$TMP/csv"
check "... each as a sample" test "$(grep -c 'perf\.mem_percent' "$TMP/csv")" = 4
check_text "... with its numbers" "$want" "$(/usr/bin/python3 -c 'import csv, sys
last = {row["metric"]: row["value"] for row in csv.DictReader(open(sys.argv[1]))}
print(*(repr(float(last["perf." + key])) for key in ("mem_percent", "disk_usage_percent", "disk_io_read_mb")))' "$TMP/csv")"
