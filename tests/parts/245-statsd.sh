#!/bin/sh
# statsd with what others have: the clients `statsd` and `datadog` of PyPI send, and the same
# bytes go into statsd_exporter; the sums in the store are those of its page.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
need_python statsd-clients statsd==4.0.1 datadog==0.56.0 || skip "pip cannot have the clients of statsd"
exporter=$PARTS/statsd/statsd_exporter
[ -x "$exporter" ] || GOBIN=$PARTS/statsd GOFLAGS=-p=1 \
	go install github.com/prometheus/statsd_exporter@v0.31.0 >"$TMP/go.log" 2>&1 || skip "statsd_exporter cannot be built"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

aggregate
start broker poolscope-broker || exit 1
start agent poolscope-agent --no-samples -n n1 -p "$PARTITION" || exit 1
start receiver poolscope-receiver --period 1s || exit 1
serve exporter "$exporter" --statsd.listen-udp= --statsd.listen-tcp= \
	--statsd.listen-unixgram="$TMP/peer.sock" --web.listen-address=127.0.0.1:19112
answers http://127.0.0.1:19112/metrics exporter || exit 1
check "the clients send" "$PARTS/statsd-clients/bin/python" "$ROOT/tests/parts/statsd_same.py" send \
	"$DIR/run/statsd.sock" "$TMP/peer.sock" "$TMP/captured"
stop receiver
check_text "the receiver ends with 0" 0 "$STATUS"
wait_until indexed 30 || exit 1
check "the page of statsd_exporter" curl -sf -o "$TMP/page" http://127.0.0.1:19112/metrics
poolscope-dump -q --kind sample --name 'statsd/*' --format long >"$TMP/long"
check "both have the same sums" /usr/bin/python3 "$ROOT/tests/parts/statsd_same.py" compare "$TMP/page" "$TMP/long" "$TMP/captured"
cat "$TMP/out"
check_text "the events are there" "3 database
3 deploy ready" "$(poolscope-dump -q --kind event --name 'statsd:*' | sed 's/.*"name": "\([^"]*\)".*/\1/' | LC_ALL=C sort | uniq -c | sed 's/^ *//')"
sed 's/^.*reason //' "$TMP/receiver.log" | sort | uniq -c
check_text "what is left out is what falls" "negative" \
	"$(sed -n 's/.*reason \([a-z-]*\): .*/\1/p' "$TMP/receiver.log" | sort -u)"
