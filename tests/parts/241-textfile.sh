#!/bin/sh
# One folder of text files, read by the real node_exporter and by the receiver: what
# node_exporter shows of it is in the store, with the same labels and values, and nothing else.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "Prometheus cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

folder=$TMP/textfile
mkdir "$folder"
cat >"$folder/apt.prom" <<'X'
# HELP apt_upgrades_pending Apt packages pending updates by origin.
# TYPE apt_upgrades_pending gauge
apt_upgrades_pending{origin="Debian:bookworm/main",arch="amd64"} 17
apt_upgrades_pending{origin="",arch=""} 0
# TYPE node_reboot_required gauge
node_reboot_required 1
X
cat >"$folder/smart.prom" <<'X'
# TYPE smartmon_reads_total counter
smartmon_reads_total{disk="/dev/sda",type="sat"} 1.234567e+09
smartmon_reads_total{disk="/dev/sdb",type="sat"} 23
smartmon_temperature{path="C:\\x \"y\""} -3.5
smartmon_limit +Inf
# TYPE backup_seconds histogram
backup_seconds_bucket{le="1"} 3
backup_seconds_bucket{le="+Inf"} 5
backup_seconds_sum 9.5
backup_seconds_count 5
# TYPE latency summary
latency{quantile="0.5"} 0.25
latency_sum 4
latency_count 7
X
printf 'timed 1 1700000000000\n' >"$folder/timed.prom"
printf 'ignored 1\n' >"$folder/apt.prom.4711"
: >"$folder/empty.prom"

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
start receiver poolscope-receiver --textfile "$folder" --textfile-period 1s || exit 1
prometheus-node-exporter --web.listen-address=127.0.0.1:19100 --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$folder" >"$TMP/node.log" 2>&1 &
node=$!
check "node_exporter shows the folder" wait_until "curl -sf http://127.0.0.1:19100/metrics >'$TMP/page' && grep -q ^apt_ '$TMP/page'" 30
kill "$node"
wait "$node" 2>/dev/null || :
# long: the numbers of the store; true when the receiver's are there.
long() {
	poolscope-dump --kind sample --name "prom/*" --format long >"$TMP/long" && grep -q smartmon_limit "$TMP/long" &&
		grep -q node_textfile_scrape_error "$TMP/long"
}
check "the receiver publishes it" wait_until long 30
check "... as node_exporter does" /usr/bin/python3 - "$TMP/long" "$TMP/page" <<'END'
import csv, json, math, os, sys
from prometheus_client.parser import text_string_to_metric_families as families
def key(name, labels):
    # node_exporter has the path of the file, the receiver its name.
    if name == "node_textfile_mtime_seconds":
        labels = {"file": os.path.basename(labels["file"])}
    return name, tuple(sorted((k, v) for k, v in labels.items() if v != ""))
# Not of the folder: what node_exporter counts of itself.
own = ("go_", "process_", "promhttp_", "node_exporter_build_info", "node_scrape_collector_")
wanted, got = {}, {}
for family in families(open(sys.argv[2]).read()):
    for s in family.samples:
        if not s.name.startswith(own) and not s.name.endswith("_bucket"):
            wanted[key(s.name, s.labels)] = s.value
for row in csv.DictReader(open(sys.argv[1])):
    if row["metric"] != "poolscope.boot":
        got[key(row["metric"], json.loads(row["labels"] or "{}"))] = float(row["value"]) if row["value"] else None
wanted = {k: v if math.isfinite(v) else None for k, v in wanted.items()}
def same(a, b):
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))
print(len(wanted), "series,", len(got), "in the store")
bad = [k for k in set(wanted) | set(got) if k not in wanted or k not in got or not same(wanted[k], got[k])]
for k in sorted(bad):
    print("differs:", k, wanted.get(k, "not of node_exporter"), got.get(k, "not in the store"))
sys.exit(bool(bad) or len(wanted) < 15)
END
cat "$TMP/out"
