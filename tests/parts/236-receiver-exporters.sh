#!/bin/sh
# Two real exporters, node_exporter and Prometheus itself, scraped by the receiver: every
# series and value that Prometheus' own reader for Python finds on the pages that they
# gave is in the store, and nothing else; when they are gone, up is 0 and the series end.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # scripts of others
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "Prometheus cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

prometheus-node-exporter --web.listen-address=127.0.0.1:19101 >"$TMP/node.log" 2>&1 &
node=$!
mkdir "$TMP/prometheus"
echo 'global: {}' >"$TMP/prometheus.yml"
prometheus --config.file="$TMP/prometheus.yml" --storage.tsdb.path="$TMP/prometheus" \
	--web.listen-address=127.0.0.1:19091 >"$TMP/prometheus.log" 2>&1 &
prometheus=$!

# What is between them and the receiver keeps the last page of each, as it passes it on.
cat >"$TMP/front.py" <<'END'
import gzip, http.server, os, sys, urllib.request
class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        name = self.path.strip("/")
        try:
            page = urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[2 + ["node", "prometheus"].index(name)]).read()
        except OSError:
            self.send_response(502)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with open(name + ".new", "wb") as file:
            file.write(page)
        os.rename(name + ".new", name + ".page")
        zipped = "gzip" in self.headers.get("Accept-Encoding", "")
        open(name + ".zipped", "w").write(str(zipped))
        page = gzip.compress(page) if zipped else page
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Front).serve_forever()
END
(cd "$TMP" && exec /usr/bin/python3 front.py 19102 19101 19091) >"$TMP/front.log" 2>&1 &
front=$!
for each in node prometheus; do
	check "$each answers" wait_until "curl -sf http://127.0.0.1:19102/$each" 20
done

cat >"$DIR/poolscope.conf" <<'END'
receiver {
	scrape "node" { url = "http://127.0.0.1:19102/node"  period = 1s }
	scrape "prometheus" { url = "http://127.0.0.1:19102/prometheus"  period = 1s  buckets = yes }
	scrape "some" { url = "http://localhost:19101/metrics"  period = 1s  keep = "node_memory_*,node_load*"  drop = "*_bytes,node_load15" }
}
END
chmod 600 "$DIR/poolscope.conf"
export POOLSCOPE_PERIOD=300ms
check "an instance with a receiver" poolscope up --receiver || exit 1
rows() {
	poolscope-dump -p "$PARTITION" --format jsonl --kind sample --kind entity --log error
}
numbers() {
	rows 2>/dev/null | python3 "$ROOT/tests/flow/receiver_judge.py"
}
shows() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qxF -e "$each" "$TMP/numbers" || return 1; done
}
check "all are up" wait_until 'shows "up{job=node} - gauge 1" "up{job=prometheus} - gauge 1" "up{job=some} - gauge 1"' 60
check_text "they may answer with gzip" TrueTrue "$(cat "$TMP/node.zipped" "$TMP/prometheus.zipped")"
check_text "what is kept, and not dropped" \
	"$(sed -n 's/^\(node_memory_[A-Za-z0-9_]*\|node_load[0-9]*\) .*/\1/p' "$TMP/node.page" | grep -v '_bytes$\|^node_load15$' | LC_ALL=C sort)" \
	"$(sed -n 's/^\([a-z_A-Z0-9]*\){job=some}.*/\1/p' "$TMP/numbers" | grep '^node' | LC_ALL=C sort)"

kill "$node" "$prometheus"
wait "$node" "$prometheus" 2>/dev/null || :
check "those that are killed are not" wait_until 'shows "up{job=node} - gauge 0" "up{job=prometheus} - gauge 0" "up{job=some} - gauge 0"' 60
sleep 3
check "the counters of what was wrong say so" wait_until 'numbers | grep -q "bad.status{source=scrape node} - counter [2-9]" && numbers | grep -q "bad.unreachable{source=scrape some} - counter [2-9]"' 30
check "down" poolscope down
kill "$front"
poolscope up >/dev/null 2>&1
check "what is stored" wait_until 'rows >"$TMP/rows" && [ -s "$TMP/rows" ]' 30
for each in node:300 prometheus:200; do
	check "the numbers of ${each%:*} are those of its last page, and end with it" \
		/usr/bin/python3 - "$TMP/rows" "${each%:*}" "$TMP/${each%:*}.page" "${each#*:}" <<'END'
import json, math, sys
from prometheus_client.parser import text_string_to_metric_families as families
rows, job, page, least = sys.argv[1:]
def key(labels):
    return tuple(sorted(labels.items()))
wanted, got, sets, samples, up = {}, {}, {}, [], {}
for family in families(open(page).read()):
    for s in family.samples:
        if not s.name.endswith("_bucket") or job == "prometheus":
            labels = {"job": job, **{k: v for k, v in s.labels.items() if v != ""}}
            wanted[s.name, key(labels)] = None if not math.isfinite(s.value) else float(s.value)
for line in open(rows):
    row = json.loads(line)
    if row["kind"] == "entity" and row["entity"] == "set":
        sets[row["id"]] = (row["properties"]["names"].split(), json.loads(row["properties"].get("labels", "{}")))
    elif row["kind"] == "sample":
        samples.append(row)
samples = [(s["time_ns"], *sets[s["set"]], s["values"]) for s in samples if s["set"].startswith("prom/%s/" % job)]
for time, names, labels, values in samples:
    if "up" in names:
        up[time] = values[names.index("up")]
last = max(time for time in up if up[time] == 1)
own = {"up", "scrape.seconds", "scrape.series"}
late = {name for time, names, labels, values in samples if time > last for name in names} - own
for time, names, labels, values in samples:
    for name, value in zip(names, values):
        if time == last and name not in own | {"poolscope.boot"}:
            got[name, key(labels)] = None if value is None or not math.isfinite(float(value)) else float(value)
        if time == last and name == "scrape.series" and value != len(wanted):
            print("scrape.series is", value)
print(len(wanted), "series,", len(got), "in the store;", len(up), "scrapes, later:", late or "none")
for name in sorted(set(wanted) | set(got)):
    if name not in got or name not in wanted or got[name] != wanted[name]:
        print("differs:", name, wanted.get(name, "not on the page"), got.get(name, "not in the store"))
gaps = [b - a for a, b in zip(sorted(up), sorted(up)[1:])]
sys.exit(wanted != got or len(wanted) < int(least) or bool(late) or min(gaps) < 5e8)
END
	cat "$TMP/out"
done
