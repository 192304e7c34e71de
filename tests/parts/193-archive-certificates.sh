#!/bin/sh
# The certificate of a server, and the file of the authorities that are trusted, are
# replaced while an aggregator runs: it goes on.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
printf 's3cret\n' >"$TMP/writer"
chmod 600 "$TMP/writer"

# certify: a certificate of the server, which is its own authority.
certify() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
		-keyout "$TMP/key.pem" -out "$TMP/cert.pem" 2>/dev/null
}
certify
serve_clickhouse ch || exit 1
# shellcheck disable=SC2046 # numbers
set -- $(free_port 3)
tls=$1
mkdir "$TMP/ch/config.d"
sed -e "s/8443/$1/; s/9440/$2/; s/9010/$3/" -e "s|/etc/clickhouse-server/ca.crt|$TMP/cert.pem|" \
	-e "s|/etc/clickhouse-server/server.crt|$TMP/cert.pem|; s|/etc/clickhouse-server/server.key|$TMP/key.pem|" \
	deploy/clickhouse/poolscope-tls.xml >"$TMP/ch/config.d/tls.xml"
again() {
	stop ch KILL
	serve ch /usr/sbin/clickhouse-server --config-file="$TMP/ch/config.xml"
	answers "$CLICKHOUSE/ping" ch
}
again || exit 1
cp "$TMP/cert.pem" "$TMP/ca.pem"
url=clickhouses://writer@localhost:$tls/pool
check "the tables are made" poolscope-archive create --to "$url" --archive-password "$TMP/writer" --archive-cacert "$TMP/ca.pem"
start aggregator poolscope-aggregator --archive "$url" --archive-password "$TMP/writer" \
	--archive-cacert "$TMP/ca.pem" --archive-after 200ms --models "$ROOT/deploy/models"
start broker poolscope-broker
check "runs are made up" load 3
check "all of it is archived" settled

certify
again || exit 1
check "more runs come" load 3
check "the new certificate is not trusted" wait_until 'archive_word archive_problem | grep -qi certificate' 60
cp "$TMP/cert.pem" "$TMP/ca.new"
mv "$TMP/ca.new" "$TMP/ca.pem"
check "its authority is, once the file is replaced" settled 90
check_text "all events are there" 60 "$(query "SELECT uniqExact(ts, node, session, seq, idx) FROM pool.events WHERE part = sipHash64('demo\$farm')")"
