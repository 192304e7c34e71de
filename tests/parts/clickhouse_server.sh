# clickhouse_server - a ClickHouse of the test's own, after serve.sh:
#
#	serve_clickhouse ch || exit 1    # $CLICKHOUSE is its URL
#	query "SELECT 1"                 # prints the answer; 1 when it is an error
#	query "INSERT INTO t FORMAT Native" @FILE
#
# Users: default without a password, writer with s3cret, reader with look, who
# may only read.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# serve_clickhouse NAME: its files are in $TMP/NAME.
serve_clickhouse() {
	_ch=$TMP/$1
	mkdir -p "$_ch/data/tmp" "$_ch/log"
	# shellcheck disable=SC2046 # numbers
	set -- "$1" $(free_port 3)
	cat >"$_ch/config.xml" <<-END
		<?xml version="1.0"?>
		<yandex>
		  <logger><level>information</level><log>$_ch/log/server.log</log><errorlog>$_ch/log/error.log</errorlog></logger>
		  <listen_host>127.0.0.1</listen_host>
		  <http_port>$2</http_port>
		  <tcp_port>$3</tcp_port>
		  <interserver_http_port>$4</interserver_http_port>
		  <interserver_http_host>127.0.0.1</interserver_http_host>
		  <max_connections>256</max_connections>
		  <keep_alive_timeout>10</keep_alive_timeout>
		  <uncompressed_cache_size>67108864</uncompressed_cache_size>
		  <mark_cache_size>67108864</mark_cache_size>
		  <path>$_ch/data/</path>
		  <tmp_path>$_ch/data/tmp/</tmp_path>
		  <user_files_path>$_ch/data/user_files/</user_files_path>
		  <format_schema_path>$_ch/data/format_schemas/</format_schema_path>
		  <users_config>users.xml</users_config>
		  <default_profile>default</default_profile>
		  <default_database>default</default_database>
		  <timezone>UTC</timezone>
		  <mlock_executable>false</mlock_executable>
		</yandex>
	END
	_secret=$(printf s3cret | sha256sum | cut -d ' ' -f 1)
	cat >"$_ch/users.xml" <<-END
		<?xml version="1.0"?>
		<yandex>
		  <profiles>
		    <default><max_memory_usage>2000000000</max_memory_usage></default>
		    <readonly><readonly>1</readonly></readonly>
		  </profiles>
		  <users>
		    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
		    <writer><password_sha256_hex>$_secret</password_sha256_hex><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></writer>
		    <reader><password>look</password><networks><ip>127.0.0.1</ip></networks><profile>readonly</profile><quota>default</quota></reader>
		  </users>
		  <quotas><default></default></quotas>
		</yandex>
	END
	CLICKHOUSE=http://127.0.0.1:$2
	export CLICKHOUSE
	serve "$1" /usr/sbin/clickhouse-server --config-file="$_ch/config.xml"
	answers "$CLICKHOUSE/ping" "$1"
}

# query SQL [@FILE]: with the file as the data of an insert.
query() {
	_encoded=$(printf %s "$1" | /usr/bin/python3 -c 'import sys, urllib.parse
print(urllib.parse.quote(sys.stdin.read()))')
	curl -sS --fail-with-body --max-time 120 --data-binary "${2:-}" "$CLICKHOUSE/?query=$_encoded"
}
