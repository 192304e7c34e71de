#!/bin/sh
# poolscope-web behind a real nginx, by the example of deploy/nginx: encrypted, with a
# token, events at once; what is not allowed stays outside.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "nginx cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

aggregate_steps
start broker poolscope-broker || exit 1
records <<-'END'
	event 0 n1 work:start
	event 5 n1 work:end
END
check "a token" poolscope-keys token ada -p 'acct$*'
token=$(cat "$TMP/out")
[ "$(id -u)" -eq 0 ] || skip "nginx as www-data: only root can start it so"
# As the example says, in another directory.
chmod 0711 "$TMP"
sed -n 's|/run/poolscope|'"$TMP/run"'|g; s/^#	//p' "$ROOT/deploy/nginx/poolscope.conf" |
	sed -e :a -e '/\\$/N; s/\\\n//; ta' >"$TMP/said"
check_text "the example says how to start the server" "poolscope keys token|install -d|poolscope web" \
	"$(grep -o '^poolscope keys token\|^install -d\|^poolscope web' "$TMP/said" | paste -sd '|')"
check "the directory is made" sh -c "$(grep '^install' "$TMP/said")"
# shellcheck disable=SC2046 # words
start web poolscope-web $(sed -n 's/^poolscope web //p' "$TMP/said") || exit 1
check_text "its socket is for the workers of nginx" "root www-data 660" "$(stat -c '%U %G %a' "$TMP/run/web.sock")"
check_text "a server behind a proxy prints no token" "" "$(grep '#k=' "$TMP/web.log")"

port=$(free_port)
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=pools.example.org \
	-addext subjectAltName=DNS:pools.example.org -keyout "$TMP/key" -out "$TMP/cert" >/dev/null 2>&1
sed "s|443|127.0.0.1:$port|; s|/etc/ssl/certs/.*pem|$TMP/cert|; s|/etc/ssl/private/.*key|$TMP/key|
	s|/run/poolscope|$TMP/run|; s|/var/log/nginx|$TMP|" \
	"$ROOT/deploy/nginx/poolscope.conf" >"$TMP/poolscope.conf"
mkdir "$TMP/body"
chown www-data "$TMP/body"
cat >"$TMP/nginx.conf" <<END
user www-data;
pid $TMP/nginx.pid;
error_log $TMP/nginx.error;
events { }
http {
	client_body_temp_path $TMP/body;
	proxy_temp_path $TMP/body;
	fastcgi_temp_path $TMP/body;
	uwsgi_temp_path $TMP/body;
	scgi_temp_path $TMP/body;
	include $TMP/poolscope.conf;
}
END
check "nginx takes the example" nginx -e "$TMP/nginx.error" -c "$TMP/nginx.conf" -t
nginx -e "$TMP/nginx.error" -c "$TMP/nginx.conf" || exit 1
trap 'kill "$(cat "$TMP/nginx.pid")"; _end' EXIT

ask() {
	curl -s --max-time 20 --cacert "$TMP/cert" --resolve "pools.example.org:$port:127.0.0.1" "$@"
}
url=https://pools.example.org:$port
check "its workers are www-data" wait_until '[ "$(ps -o user= --ppid "$(cat "$TMP/nginx.pid")" | sort -u)" = www-data ]'
check_text "it is there" ok "$(ask "$url/healthz")"
ask -H "Authorization: Bearer $token" "$url/v1/pools/acct%24pool/phases" >"$TMP/got"
poolscope-stats phases -p 'acct$pool' --format json >"$TMP/wanted"
check "an answer is that of the command" cmp "$TMP/wanted" "$TMP/got"
check_text "without a token there is none" 401 "$(ask -o /dev/null -w '%{http_code}' "$url/v1/pools")"
check_text "POST stays outside" 403 "$(ask -o /dev/null -w '%{http_code}' -X POST "$url/v1/pools")"
check_text "another host's name is refused" 403 \
	"$(ask -k -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "$url/healthz")"
check "answers are compressed" sh -c 'grep -qi "^content-encoding: gzip"' <<END
$(ask -D - -o /dev/null -H 'Accept-Encoding: gzip' "$url/app.js")
END
ask -N --max-time 300 -H "Authorization: Bearer $token" "$url/v1/live?pool=acct%24pool" >"$TMP/stream" &
stream=$!
check "events come at once" wait_until 'grep -q "^event: reset" "$TMP/stream"' 30
echo "event 9 n2 work:start" | send_records
check "... and what came" wait_until 'grep -q "^event: tick" "$TMP/stream"' 30
kill "$stream"
check "no log has the token" sh -c '! grep -r "$0" "$1"/*.log "$1"/nginx.error' "$token" "$TMP"
stop web
stop aggregator
