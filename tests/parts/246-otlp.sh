#!/bin/sh
# OTLP with OpenTelemetry's SDK for Python, as its users have it: spans, metrics and logs
# that it sends, as protocol buffers and compressed, are in the store with their values.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
need_python otel opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2 ||
	skip "pip cannot have the SDK of OpenTelemetry"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
start receiver poolscope-receiver --otlp 24321 --otlp-logs || exit 1
for packed in none gzip deflate; do
	check "the SDK sends, compressed with $packed" env OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:24321 \
		OTEL_EXPORTER_OTLP_COMPRESSION="$packed" OTEL_SERVICE_NAME="svc-$packed" \
		"$PARTS/otel/bin/python" "$ROOT/tests/parts/otlp_send.py"
	check_text "... without a complaint" "" "$(cat "$TMP/err")"
done
stop receiver
check_text "the receiver ends with 0" 0 "$STATUS"
wait_until indexed 30 || exit 1
check_text "each span is there" "300" "$(poolscope-dump -q --kind span | grep -c '"name": "work')"
check_text "each event of a span is there" "30" "$(poolscope-dump -q --kind event | grep -c '"name": "half"')"
check_text "each log record is there" "3" "$(poolscope-dump -q --kind event | grep -c 'it broke')"
poolscope-dump -q --kind sample --name 'otlp/*' --format long >"$TMP/long"
check_text "the counter is there" 3 "$(grep -c 'requests.*42' "$TMP/long")"
check_text "the histogram is there" 3 "$(grep -c 'latency.sum.*6' "$TMP/long")"
check_text "nothing is left out" 0 "$(grep -c 'left out' "$TMP/receiver.log")"
