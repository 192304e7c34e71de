# operate - runs what deploy/clickhouse/operate.md says, after archive.sh:
#
#	ARCHIVE=$CLUSTER/poolscope
#	check "the replica comes back" procedure "A replica was lost"
#	procedure "..." 2	# the second block of commands alone
#
# Hosts are the servers of the cluster: archive-1a is replica 1.  A test says what
# operate_client N SQL and service N start|stop NAME are; N is 0 where the head is.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # for the commands; of the cluster

# host_number NAME.
host_number() {
	case $1 in
	archive-1a) echo 1 ;;
	archive-1b) echo 2 ;;
	archive-2a) echo 3 ;;
	archive-2b) echo 4 ;;
	new-1a) echo 2 ;;
	*) return 1 ;;
	esac
}

# The commands below a heading, of all blocks or of one.
_commands() {
	awk -v heading="## $1" -v block="${2:-0}" '
		/^## / { here = $0 == heading }
		/^```/ && here { inside = !inside; if (inside) number++; next }
		inside && here && (!block || number == block) { print }' \
		"$ROOT/deploy/clickhouse/operate.md"
}

# _here COMMAND: with the places and names of the test.
_here() {
	printf '%s' "$1" | sed -e "s|/var/lib/clickhouse|$TMP/ch$_on/data|g" \
		-e "s|/etc/clickhouse-server|$TMP/ch$_on|g" -e 's|poolscope-macros.xml|macros.xml|g' \
		-e 's|poolscope-users.xml|poolscope.xml|g' -e 's/archive-1a/r1/g; s/archive-1b/r2/g' \
		-e 's/archive-2a/r3/g; s/archive-2b/r4/g'
}

ssh() {
	_on=$(host_number "$1")
	shift
	case $1 in
	clickhouse-client) operate_client "$_on" "$(_here "$3")" ;;
	systemctl) service "$_on" "$2" "$3" ;;
	*) sh -c "$(_here "$*")" ;;
	esac
}

systemctl() { service 0 "$@"; }

# What zkCli.sh does with the lines that it reads.
zookeeper_shell() {
	java -Xmx64m -cp /etc/zookeeper/conf:/usr/share/java/zookeeper.jar \
		org.apache.zookeeper.ZooKeeperMain -server "127.0.0.1:$_zookeeper"
}

# procedure HEADING [BLOCK]: ends at the first command that fails.
procedure() {
	_commands "$@" | sed -e "s|/var/lib/poolscope|$DIR|g" \
		-e 's|zkCli.sh -server zookeeper-1|zookeeper_shell|' \
		-e '/; do$/!{/^done$/!s/$/ || return 1/}' >"$TMP/commands"
	[ -s "$TMP/commands" ] || return 1
	cat "$TMP/commands"
	cd "$TMP" || return 1
	_run
	_status=$?
	cd "$ROOT" || return 1
	return $_status
}
# A function of its own, for its return.
_run() {
	# shellcheck source=/dev/null
	. "$TMP/commands"
}
