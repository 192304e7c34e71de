#!/bin/sh
# The pages of two real exporters, node_exporter and Prometheus itself, through poolscope emit
# into a store: every series and value that Prometheus' own reader for Python finds on them is
# there, and nothing else.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "Prometheus cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1

prometheus-node-exporter --web.listen-address=127.0.0.1:19100 >"$TMP/node.log" 2>&1 &
node=$!
mkdir "$TMP/prometheus"
echo 'global: {}' >"$TMP/prometheus.yml"
prometheus --config.file="$TMP/prometheus.yml" --storage.tsdb.path="$TMP/prometheus" \
	--web.listen-address=127.0.0.1:19090 >"$TMP/prometheus.log" 2>&1 &
prometheus=$!
for each in node:19100 prometheus:19090; do
	page=$TMP/${each%:*}.page
	check "the page of ${each%:*}" wait_until "curl -sf http://127.0.0.1:${each#*:}/metrics >'$page'" 30
	check "... is published" sh -c 'poolscope-emit --prometheus - --buckets --label "from=$1" --wait stored <"$2"' sh "${each%:*}" "$page"
done
kill "$node" "$prometheus"
wait "$node" "$prometheus" 2>/dev/null || :
wait_until indexed 30 || exit 1
check "the numbers of the store" sh -c 'poolscope-dump --kind sample --name "prom/*" --format long >"$0"' "$TMP/long"
check "... are those of Prometheus' reader" /usr/bin/python3 - "$TMP/long" "$TMP/node.page" "$TMP/prometheus.page" <<'END'
import csv, json, math, sys
from prometheus_client.parser import text_string_to_metric_families as families
def key(labels):
    return tuple(sorted(labels.items()))
wanted, got = {}, {}
for path in sys.argv[2:]:
    source = path.rsplit("/", 1)[1].split(".")[0]
    for family in families(open(path).read()):
        for s in family.samples:
            labels = {k: v for k, v in s.labels.items() if v != ""}
            value = None if not math.isfinite(s.value) else float(s.value)
            wanted[s.name, key({**labels, "from": source})] = value
for row in csv.DictReader(open(sys.argv[1])):
    if row["metric"] != "poolscope.boot":
        got[row["metric"], key(json.loads(row["labels"]))] = float(row["value"]) if row["value"] else None
print(len(wanted), "series,", len(got), "in the store")
for name in sorted(set(wanted) | set(got)):
    if name not in got or name not in wanted or got[name] != wanted[name]:
        print("differs:", name, wanted.get(name, "not on the page"), got.get(name, "not in the store"))
sys.exit(wanted != got or len(wanted) < 300)
END
cat "$TMP/out"
