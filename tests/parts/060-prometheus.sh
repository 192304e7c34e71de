#!/bin/sh
# The metrics of pools in Prometheus: promtool and the strict parser read them, a Prometheus
# scrapes them, the dashboard's questions have answers, the alerts come when they should.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "Prometheus cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

cp "$ROOT/deploy/prometheus.yml" "$ROOT/deploy/prometheus-rules.yml" \
	"$ROOT/tests/parts/prometheus-rules-test.yml" "$TMP"
check "the example configuration is one" promtool check config "$TMP/prometheus.yml"
check "the alerts are" promtool check rules "$TMP/prometheus-rules.yml"
check "they come when they should" promtool test rules "$TMP/prometheus-rules-test.yml"

mkdir "$TMP/models"
cp "$ROOT/deploy/models/testrun.conf" "$TMP/models"
aggregate_steps
BASE=$(date +%s)
records <<-'END'
	event -100 n1 work:start
	event -90 n1 work:end
	event -60 n2 work:start
	event -60 n2 run:request run=a device_group=phones
	group n1 self poolscope.agent.spool.unacked:By:gauge
	group n1 clock poolscope.clock.offset:ns:gauge
	group n1 cpu poolscope.boot:1:gauge system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge
	group n1 load poolscope.boot:1:gauge system.cpu.load_average.1m:{thread}:gauge
	group n1 memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge system.linux.memory.available:By:gauge system.paging.usage.used:By:gauge
	group n1 pressure poolscope.boot:1:gauge system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter system.linux.pressure.io.some:us:counter
	sample -40 n1 cpu 7 1000 500 4
	sample -20 n1 cpu 7 2000 600 4
	sample -20 n1 load 7 9
	sample -20 n1 memory 16000 5000 8000 128
	sample -40 n1 pressure 7 100 100 100
	sample -20 n1 pressure 7 200 100 300
	sample -20 n1 self 5000
	sample -20 n1 clock 1500000
END
poolscope stats metrics --metrics nodes --prometheus >"$TMP/text"
check "promtool has nothing to say" sh -c "promtool check metrics <'$TMP/text'"
check_text "... at all" "" "$(cat "$TMP/out")"
metrics=$TMP/openmetrics
poolscope stats metrics --metrics nodes -o "$metrics"
check "the strict parser reads it" /usr/bin/python3 "$ROOT/tests/attack/metrics.py" "$metrics"

# shellcheck disable=SC2046 # numbers
set -- $(free_port 2)
server=http://127.0.0.1:$2
serve scraped /usr/bin/python3 "$ROOT/tests/parts/prometheus.py" serve "$1" "$metrics" \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"
answers "http://127.0.0.1:$1/metrics" scraped || exit 1
cat >"$TMP/scrape.yml" <<-END
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [prometheus-rules.yml]
	scrape_configs:
	  - job_name: poolscope
	    static_configs: [{targets: ["127.0.0.1:$1"]}]
END
# The example that is commented out, of the page itself.
poolscope keys token prometheus >"$TMP/poolscope.token"
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until "grep -q '#k=' '$TMP/web.log'" || exit 1
web=$(grep -o 'http://[^ ]*#k=' "$TMP/web.log" | head -n 1 | sed 's|http://\(.*\)/#k=|\1|')
sed -n 's/^  #\(-\|  \)/  \1/p' "$TMP/prometheus.yml" | sed "s/localhost:8080/$web/" >>"$TMP/scrape.yml"
serve prometheus prometheus --config.file="$TMP/scrape.yml" --storage.tsdb.path="$TMP/tsdb" \
	--web.listen-address="127.0.0.1:$2"
answers "$server/-/ready" prometheus || exit 1
scraped() {
	[ "$(/usr/bin/python3 "$ROOT/tests/parts/prometheus.py" up "$server")" = "up up" ]
}
check "Prometheus scrapes it, and the page with a token" wait_until scraped 60
check "... and asked for OpenMetrics" grep -q 'application/openmetrics-text' "$metrics.asked"
# The next durations come while it looks.
step=0
while [ $step -lt 4 ]; do
	step=$((step + 1))
	records <<-END
		event -$((50 - 10 * step)) n3 work:start
		event -$((45 - 10 * step)) n3 work:end
	END
	poolscope stats metrics --metrics nodes -o "$metrics"
	# One that has begun before may still answer with the step before.
	for scrape in one another; do
		rm -f "$metrics.asked"
		check "step $step is scraped: $scrape" wait_until '[ -s "$metrics.asked" ]' 30
	done
done
answered() {
	/usr/bin/python3 "$ROOT/tests/parts/prometheus.py" questions "$server" "$ROOT/deploy/grafana/poolscope.json" >"$TMP/unanswered" &&
		[ ! -s "$TMP/unanswered" ]
}
check "every question of the dashboard has an answer" wait_until answered 20
cat "$TMP/unanswered"
