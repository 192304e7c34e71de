# clickhouse_cluster - two shards of two ClickHouse replicas and ZooKeeper, after
# flow/lib.sh and serve.sh:
#
#	. "$(dirname "$0")/clickhouse_cluster.sh"
#	cluster_start || exit 1
#	poolscope-archive check --to "$CLUSTER/db" --archive-password "$TMP/writer"
#	ask 1 'SELECT 1'	# of replica 1..4: s1r1 s1r2 s2r1 s2r2
#	stop ch2 KILL; cluster_serve 2
#	wait_until 'complete 2 1' 60	# replica 2 has what replica 1 has
#
# The users are those of deploy/clickhouse, their passwords in the files
# $TMP/writer and $TMP/reader.  CLUSTER is the address of all four, PORT1..PORT4
# are their HTTP ports.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

# One replica: number, shard, ports of HTTP, TCP and between servers.
_cluster_config() {
	_home=$TMP/ch$1
	mkdir -p "$_home/users.d" "$_home/config.d" "$_home/data/tmp"
	sed -e "s/HASH-OF-THE-WRITER/$(printf %s writes! | sha256sum | cut -d' ' -f1)/" \
		-e "s/HASH-OF-THE-READER/$(printf %s reads! | sha256sum | cut -d' ' -f1)/" \
		deploy/clickhouse/poolscope-users.xml >"$_home/users.d/poolscope.xml"
	sed -e "s/<shard>1</<shard>$2</; s/archive-1a/r$1/" \
		deploy/clickhouse/poolscope-macros.xml >"$_home/config.d/macros.xml"
	cat >"$_home/users.xml" <<END
<yandex>
<profiles><default><readonly>1</readonly></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries>
<errors>0</errors><result_rows>0</result_rows><read_rows>0</read_rows>
<execution_time>0</execution_time></interval></default></quotas>
</yandex>
END
	cat >"$_home/config.xml" <<END
<yandex>
<logger><level>information</level><console>true</console></logger>
<http_port>$3</http_port><tcp_port>$4</tcp_port>
<interserver_http_port>$5</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host>
<listen_host>127.0.0.1</listen_host>
<keep_alive_timeout>1</keep_alive_timeout>
<uncompressed_cache_size>16777216</uncompressed_cache_size>
<mark_cache_size>16777216</mark_cache_size>
<path>$_home/data/</path><tmp_path>$_home/data/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><timezone>UTC</timezone>
<mlock_executable>false</mlock_executable>
<remote_servers><poolscope>
$_rows
</poolscope></remote_servers>
<zookeeper><node index="1"><host>127.0.0.1</host><port>$_zookeeper</port></node>
<session_timeout_ms>4000</session_timeout_ms></zookeeper>
</yandex>
END
}

# CLUSTER_HOST: how remote_servers call the host of all replicas.
_cluster_replica() {
	printf '<replica><host>%s</host><port>%s</port>' "${CLUSTER_HOST:-127.0.0.1}" "$1"
	printf '<user>poolscope_writer</user><password>writes!</password></replica>\n'
}

_port_of() {
	case $1 in
	1) echo "$PORT1" ;;
	2) echo "$PORT2" ;;
	3) echo "$PORT3" ;;
	*) echo "$PORT4" ;;
	esac
}

# cluster_serve N: start replica N (again), also one that runs and does not answer.
cluster_serve() {
	! alive "ch$1" || stop "ch$1" KILL
	serve "ch$1" clickhouse-server "--config-file=$TMP/ch$1/config.xml"
	answers "http://127.0.0.1:$(_port_of "$1")/ping" "ch$1"
}

# zookeeper_serve: start ZooKeeper (again).
zookeeper_serve() {
	serve zookeeper java -Xmx256m -XX:+UseSerialGC -Dzookeeper.log.dir="$TMP" \
		-cp /etc/zookeeper/conf:/usr/share/java/zookeeper.jar \
		org.apache.zookeeper.server.quorum.QuorumPeerMain "$TMP/zoo.cfg"
	wait_until "! alive zookeeper || /usr/bin/python3 -c 'import socket
socket.create_connection((\"127.0.0.1\", $_zookeeper), 1)'" 60
	alive zookeeper
}

# zookeeper_delete PATH...: with what is below.
zookeeper_delete() {
	for _path in "$@"; do
		java -Xmx64m -cp /etc/zookeeper/conf:/usr/share/java/zookeeper.jar \
			org.apache.zookeeper.ZooKeeperMain -server "127.0.0.1:$_zookeeper" \
			deleteall "$_path" >"$TMP/zookeeper-delete.log" 2>&1 || return 1
	done
}

# cluster_start: everything, empty.
cluster_start() {
	# shellcheck disable=SC2046 # numbers
	set -- $(free_port 13)
	_zookeeper=${13}
	PORT1=$1 PORT2=$2 PORT3=$3 PORT4=$4
	# shellcheck disable=SC2034 # for tests
	CLUSTER=clickhouse://poolscope_writer@127.0.0.1:$1,127.0.0.1:$2,127.0.0.1:$3,127.0.0.1:$4
	printf 'writes!\n' >"$TMP/writer"
	printf 'reads!\n' >"$TMP/reader"
	chmod 600 "$TMP/writer" "$TMP/reader"
	cat >"$TMP/zoo.cfg" <<END
tickTime=1000
dataDir=$TMP/zookeeper
clientPort=$_zookeeper
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
minSessionTimeout=2000
maxSessionTimeout=60000
END
	_rows="<shard><internal_replication>true</internal_replication>
$(_cluster_replica "$5")$(_cluster_replica "$6")</shard>
<shard><internal_replication>true</internal_replication>
$(_cluster_replica "$7")$(_cluster_replica "$8")</shard>"
	_cluster_config 1 1 "$1" "$5" "$9"
	_cluster_config 2 1 "$2" "$6" "${10}"
	_cluster_config 3 2 "$3" "$7" "${11}"
	_cluster_config 4 2 "$4" "$8" "${12}"
	zookeeper_serve && cluster_serve 1 && cluster_serve 2 && cluster_serve 3 &&
		cluster_serve 4
}

# ask N SQL [SETTINGS]: the answer of replica N, TabSeparated, as the writer.
ask() {
	curl -s -m 30 -H 'X-ClickHouse-User: poolscope_writer' \
		-H 'X-ClickHouse-Key: writes!' --data-binary "$2" \
		"http://127.0.0.1:$(_port_of "$1")/${3:-}"
}

# rows_of N: how many rows replica N has of each table of the database pool.
rows_of() {
	ask "$1" "SELECT table, sum(rows) FROM system.parts WHERE active AND database = 'pool' GROUP BY table ORDER BY table"
}

# complete N OF: replica N has as many rows of every table as replica OF, which has all.
complete() {
	_has=$(rows_of "$1")
	[ -n "$_has" ] && [ "$_has" = "$(rows_of "$2")" ]
}
