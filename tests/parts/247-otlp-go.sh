#!/bin/sh
# OTLP with OpenTelemetry's SDK for Go, and through OpenTelemetry's Collector, plain and
# compressed: spans, events and numbers are in the store with their values.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

# Go builds for minutes: only who asks for it (`make soak ONLY=go`), or has it, gets it.
sources=$ROOT/tests/parts/otelgo
go=$PARTS/otelgo
complete=$go/complete.$(cat "$sources/go.mod" "$sources"/*/main.go | cksum | cut -d ' ' -f 1)
[ -n "${GO:-}" ] || [ -e "$complete" ] || skip "the SDK and the Collector in Go were not asked for (GO=1)"
built() {
	flock 8
	[ ! -e "$complete" ] || exit 0
	command -v go || exit 1
	echo "building the SDK and the Collector in Go"
	rm -rf "$go"
	cp -r "$sources" "$go"
	cd "$go" && go mod tidy && go build -buildvcs=false -trimpath -ldflags='-s -w' -o bin/ ./send ./collector &&
		touch "$complete"
}
(built) 8>"$go.lock" >"$TMP/build.log" 2>&1 || {
	tail -n 3 "$TMP/build.log"
	skip "Go cannot build them"
}

# Go's client sends; what it printed of each span is in $TMP/sent.
sent() { # NAME ENDPOINT COMPRESSION
	check "$1 sends" env OTEL_EXPORTER_OTLP_ENDPOINT="$2" OTEL_EXPORTER_OTLP_COMPRESSION="$3" \
		OTEL_SERVICE_NAME="$1" "$go/bin/send"
	check_text "... without a complaint" "" "$(cat "$TMP/err")"
	sort "$TMP/out" >>"$TMP/sent"
}

# The collector takes what clients send and passes it on.
start_collector() { # COMPRESSION ENCODING
	cat >"$TMP/collector.yaml" <<-END
		receivers:
		  otlp:
		    protocols:
		      http:
		        endpoint: 127.0.0.1:$port
		exporters:
		  otlp_http:
		    endpoint: http://127.0.0.1:24325
		    compression: $1
		    encoding: $2
		    retry_on_failure:
		      initial_interval: 100ms
		service:
		  telemetry:
		    metrics:
		      level: none
		  pipelines:
		    traces:
		      receivers: [otlp]
		      exporters: [otlp_http]
		    metrics:
		      receivers: [otlp]
		      exporters: [otlp_http]
	END
	serve collector "$go/bin/collector" --config "$TMP/collector.yaml"
	answers "http://127.0.0.1:$port/" collector || exit 1
}
collect() { # COMPRESSION ENCODING
	start_collector "$1" "$2"
	sent "collector-$1-$2" "http://127.0.0.1:$port" none
	stop collector
	check_text "the collector ends with 0" 0 "$STATUS"
}

# stored KIND STATEMENT: what it prints of each record `r` with attributes `a`.
stored() {
	poolscope-dump -q --kind "$1" --format jsonl | /usr/bin/python3 -c 'import json, sys
for line in sys.stdin:
    r = json.loads(line)
    a = r["attributes"]
    exec(sys.argv[1])' "$2"
}

start_agent() {
	start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
}

aggregate
start broker poolscope-broker || exit 1
start_agent
start receiver poolscope-receiver --otlp 24325 || exit 1
port=$(free_port)
for packed in none gzip; do
	sent "go-$packed" http://127.0.0.1:24325 "$packed"
done
collect none proto
collect gzip proto
collect none json
collect gzip json
# Without an agent the receiver refuses, and the collector sends again.
stop agent KILL
start_collector gzip proto
sent collector-away "http://127.0.0.1:$port" none
check "the collector will send again" wait_until 'test "$(grep -c "Will retry" "$TMP/collector.log")" -ge 2'
start_agent
check "it does, once there is an agent" wait_until 'test "$(poolscope-dump -q --kind span --format jsonl | grep -c collector-away)" = 100'
check "... its numbers, too" wait_until 'test "$(poolscope-dump -q --kind sample --name "otlp/collector-away/*" --format long | wc -l)" = 8'
stop collector
check_text "the collector drops nothing" 0 "$(grep -cE '	(warn|error)	' "$TMP/collector.log")"
stop receiver
check_text "the receiver ends with 0" 0 "$STATUS"
wait_until indexed 30 || exit 1
spans='print(r["name"], a["trace.id"], a["span.id"], r["begin_ns"], r["end_ns"])'
check_text "each span is there with its identifiers and times" "$(sort "$TMP/sent" | md5sum)" \
	"$(stored span "$spans" | sort | md5sum)"
check_text "... and its attributes" 700 "$(stored span 'print(r["name"], "work%s" % a["i"], a["list"])' | grep -cE '^(work[0-9]+) \1 \[1, ?2\]$')"
check_text "each event of a span is there" 70 "$(stored event 'print(r["name"], a["span.id"], a["i"] % 10)' | sort -u | grep -c '^half .* 0$')"
poolscope-dump -q --kind sample --name 'otlp/*' --format long -o "$TMP/long"
check_text "each number is there" "7 code requests 1 42
7 latency.count 1 3
7 latency.max ms 3.0
7 latency.min ms 1.0
7 latency.sum ms 6.0" "$(/usr/bin/python3 -c 'import csv, json, sys
for row in csv.DictReader(open(sys.argv[1])):
    labels = json.loads(row["labels"])
    if row["metric"] != "poolscope.boot":
        print(*(["code"] if labels.get("code") == "200" else []), row["metric"], row["unit"], row["value"])' "$TMP/long" |
	sort | uniq -c | sed 's/^ *//')"
check_text "... of each service" "collector-away collector-gzip-json collector-gzip-proto collector-none-json collector-none-proto go-gzip go-none" \
	"$(grep -o 'service.name"":""[^"]*' "$TMP/long" | sed 's/.*"//' | sort -u | tr '\n' ' ' | sed 's/ $//')"
