#!/bin/sh
# An aggregator that writes to an archive and a gateway that reads one, inside
# their sandboxes, root's too: the cluster is reached by a name, found again when
# it comes back, and read; a file of elsewhere and a privilege are closed, and
# nothing that they ask for is refused.  tests/attack/110-sandbox.sh is the same
# without an archive.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "ClickHouse cannot be installed"
serve_clickhouse ch || exit 1

# By name: /etc/hosts or a name server says where it is.
at=localhost:${CLICKHOUSE##*:}
# Not below /tmp, where instruments of tests may write.
elsewhere=$(mktemp -d /var/tmp/poolscope.XXXXXX) || exit 1
trap 'rm -rf "$elsewhere"; _end' EXIT
echo 'log = "debug"' >"$elsewhere/poolscope.conf"
# Passwords lie where nothing else is read: their folder is open, as they may be replaced.
mkdir -m 700 "$elsewhere/words"
printf s3cret >"$elsewhere/words/writer"
printf look >"$elsewhere/words/reader"
chmod 600 "$elsewhere/words/writer" "$elsewhere/words/reader"
host=$TMP/host
mkdir -m 700 "$host"
gate=ipc://$host/run/reader.ipc

status_of() {
	awk '$1 == "NoNewPrivs:" || $1 == "Seccomp:" { print $2 }' "/proc/$1/status" | xargs
}
# runs N FIRST: N runs, of 10 events each.
runs() {
	poolscope-generate testrun --runs "$1" --first "$2" --spacing 1 --base now \
		--seed 7 -p 'acct$pool' --timeout 120s
}
archived() {
	"$ROOT/tests/flow/counters.py" >"$TMP/status" && indexed &&
		grep -q '"archive_lag": 0,' "$TMP/status" && grep -q '"archive_lag_ns": 0,' "$TMP/status"
}
has() {
	[ "$(poolscope-dump -q -p 'acct$pool' --kind event --connect "$gate" 2>/dev/null | wc -l)" -eq "$1" ]
}

check "the tables are made" poolscope-archive create --to "clickhouse://writer@$at/pool" --archive-password "$elsewhere/words/writer"
start aggregator poolscope-aggregator --log debug --archive "clickhouse://writer@$at/pool" \
	--archive-password "$elsewhere/words/writer" --archive-after 100ms || exit 1
start broker poolscope-broker || exit 1
check "two runs are sent" runs 2 0
check "... and archived" wait_until archived 60
start gateway poolscope-aggregator --log debug --dir "$host" \
	--archive-only "clickhouse://reader@$at/pool" --archive-password "$elsewhere/words/reader" || exit 1
check "a gateway has them" wait_until 'has 20' 40
for service in aggregator gateway; do
	check_text "the $service gains no privileges, and its calls are filtered" "1 2" "$(status_of "$(pid $service)")"
done

# ---- what is closed
if grep -q 'no Landlock' "$TMP/aggregator.log"; then
	echo "SKIPPED what Landlock closes: not of this kernel"
else
	ln -s "$elsewhere/poolscope.conf" "$DIR/poolscope.conf"
	ln -s "$elsewhere/poolscope.conf" "$host/poolscope.conf"
	for service in aggregator gateway; do
		check "the $service reports its sandbox" grep -q 'file access is restricted' "$TMP/$service.log"
		kill -HUP "$(pid $service)"
		check "a configuration that leads elsewhere is not read by the $service" wait_until \
			'grep -q "poolscope.conf: cannot be read: Permission denied" "$TMP/$service.log"'
	done
	rm "$DIR/poolscope.conf" "$host/poolscope.conf"
	# That was what was looked for.
	sed -i '/poolscope.conf: cannot be read: Permission denied/d' "$TMP/aggregator.log" "$TMP/gateway.log"
fi

# ---- what stays open
stop ch KILL
check "without the server a run is sent" runs 1 2
check "... and the status says since when it fails" wait_until \
	'"$ROOT/tests/flow/counters.py" | grep -q "\"archive_failing_since_ns\": [1-9]"' 60
serve ch /usr/sbin/clickhouse-server --config-file="$TMP/ch/config.xml"
check "the server comes back" answers "$CLICKHOUSE/ping" ch
check "... and is found by the aggregator" wait_until archived 90
check "... and by the gateway" wait_until 'has 30' 60
for service in gateway broker aggregator; do
	stop $service
	check_text "the $service ends with 0" 0 "$STATUS"
done
for service in gateway aggregator; do
	check_status 1 "the $service was refused nothing that it asked for" \
		grep -E 'EACCES|EPERM|not permitted|denied' "$TMP/$service.log"
done
