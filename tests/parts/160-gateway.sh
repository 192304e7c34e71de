#!/bin/sh
# A gateway to an archive of two pools, 3 runs of acct$one and 2 of acct$two:
# readers get what the aggregator would answer, of the pools that their keys
# name; what comes later is there within the next readings; when the server is
# gone, answers say so or are whole.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
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
serve_clickhouse ch || exit 1

at=${CLICKHOUSE#http://}
archive=clickhouse://reader@$at/pool
printf look >"$TMP/reader"
chmod 600 "$TMP/reader"
host=$TMP/host
mkdir -m 700 "$host"
listen=tcp://127.0.0.1:$(free_port 1)

# runs PARTITION FIRST N: N test runs, of 10 events each.
runs() {
	poolscope-generate testrun --runs "$3" --first "$2" --spacing 1 --base now \
		--seed 7 -p "$1" --timeout 120s
}

# ask KEY COMMAND...: it reads from the gateway.
ask() {
	_key=$host/keys/$1.key
	shift
	"$@" --connect "$listen" --key "$_key"
}

# has PARTITION N: the gateway has N events of it.
has() {
	[ "$(ask all poolscope-dump -q -p "$1" --kind event | wc -l)" -eq "$2" ]
}

# same KEY PARTITION: the aggregator and the gateway print the same.
same() {
	poolscope-dump -q -p "$2" --kind event --kind entity --kind run >"$TMP/want" &&
		ask "$1" poolscope-dump -q -p "$2" --kind event --kind entity --kind run >"$TMP/got" &&
		cmp "$TMP/want" "$TMP/got"
}

# counted NAME: what the gateway counts.
counted() {
	"$ROOT/tests/flow/counters.py" --connect "$listen" --key "$host/keys/all.key" \
		>"$TMP/counters" && sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$TMP/counters"
}

# kept PARTITION: a later look at the archive found nothing new of it, so what was
# read of it before is kept.
kept() {
	same all "$1" && _looked=$(counted read_until_ns) && _asked=$(counted read_asked) || return 1
	wait_until '[ "$(counted read_until_ns)" -gt "$_looked" ]' 20 &&
		same all "$1" && [ "$(counted read_asked)" -eq "$_asked" ]
}

check "the tables are made" poolscope-archive create --to "clickhouse://$at/pool"
start aggregator poolscope-aggregator --archive "clickhouse://$at/pool" --archive-after 100ms || exit 1
start broker poolscope-broker || exit 1
check "three runs of a pool" runs 'acct$one' 0 3
check "two runs of another" runs 'acct$two' 0 2
check "both are archived" settled

for key in server all one; do
	case $key in
	server) set -- --role server ;;
	all) set -- --role reader ;;
	*) set -- --role reader --partition 'acct$one' ;;
	esac
	check "a key for $key" poolscope-keys new "$key" --dir "$host" "$@"
done
start gateway poolscope-aggregator --dir "$host" --archive-only "$archive" \
	--archive-password "$TMP/reader" --reader "$listen" || exit 1
check "a gateway answers as the aggregator" same all 'acct$one'
check_text "... which has 30 events" 30 "$(grep -c '"kind": "event"' "$TMP/got")"
check "... of each pool" same all 'acct$two'
check "a key of one pool reads it" same one 'acct$one'
check_status 1 "... and no other" ask one poolscope-dump -p 'acct$two'
check_printed "... which is forbidden" "refused: forbidden"
check "its status has one pool" ask one poolscope-stats pools --format jsonl
check_text "... and no other" "1 1" "$(grep -c '^{"partition"' "$TMP/out") $(grep -c 'acct$one' "$TMP/out")"
check "a monitor is content" ask all poolscope-stats status
check_printed "... and reads how old answers are" "^archive     read in place, as of 20"
check_status 1 "nobody can follow it" ask all poolscope-dump --follow -p 'acct$one'
check_printed "... and why" "an archive cannot be followed"
check "it has no store" test ! -e "$host/store"
check_text "... and its files have no names" "" "$(ls "$host/run")"

check "two runs more" runs 'acct$one' 3 2
check "... are there soon" wait_until 'has "acct\$one" 50' 40
check "... and the same" same all 'acct$one'
# late N: N events of two hours ago.  The first one makes an hour that the gateway
# does not know, the others come into one that it has read.
late() {
	printf '{"ts": "%d.5", "source": "late", "event": "event", "node": "n%d"}\n' \
		$(($(date +%s) - 7200 - $1)) "$1" >"$TMP/late"
	poolscope-import emits -q -p 'acct$one' "$TMP/late"
}
for n in 1 2 3; do
	check "a late event" late $n
	check "... is there" wait_until "has 'acct\$one' $((50 + n))" 40
	check "... once, and the rest the same" same all 'acct$one'
done
check "a pool that is new" runs 'acct$three' 0 1
check "... is there soon, too" wait_until 'has "acct\$three" 10' 40
check "one more, which nobody asks about" runs 'acct$four' 0 1
check "is archived" settled
check "... and listed" wait_until \
	"ask all poolscope-stats pools | grep -q 'acct.four'" 40

# Equal questions are one, of whatever reader and in whatever thread.
check "what was read is not asked again" wait_until "kept 'acct\$one'" 60
all=$(ask all poolscope-dump -q -p 'acct$one' | sha256sum)
before=$(counted read_asked)
readers=
for i in $(seq 100); do
	[ "$(ask all poolscope-dump -q -p 'acct$one' | sha256sum)" = "$all" ] || echo "$i" >>"$TMP/other" &
	readers="$readers $!"
	# shellcheck disable=SC2086 # numbers
	[ $((i % 4)) -ne 0 ] || { wait $readers && readers= ; }
done
check_text "100 readers more ask the archive nothing" "$before" "$(counted read_asked)"
check "... and get the same" test ! -e "$TMP/other"

# A statement whose reader was killed ends when that would not wait any more, after 30 s.
under_way() {
	test "$(query "SELECT count() FROM system.processes WHERE query LIKE '%FROM slow.partitions%' AND query NOT LIKE '%processes%'")" "$@"
}
check "another archive is made" poolscope-archive create --to "clickhouse://$at/slow"
for sql in 'RENAME TABLE slow.partitions TO slow.fast' 'CREATE VIEW slow.partitions AS SELECT * FROM slow.fast
	WHERE part + 0 IN (SELECT number FROM system.numbers WHERE sipHash64(number) = 1)'; do
	check "... that never answers" query "$sql"
done
poolscope-stats pools --connect "clickhouse://$at/slow" >"$TMP/killed" 2>&1 &
reader=$!
check "a reader asks it" wait_until 'under_way -gt 0' 20
kill -KILL $reader
check "... is killed, and its statement ends" wait_until 'under_way -eq 0' 45

stop ch KILL
check "without the server, what was read is whole" same all 'acct$one'
check_status 1 "... and what was not is an error" ask all poolscope-dump -p 'acct$four'
check_printed "... that names the shard" "refused: archive: shard 1"
check_text "... and nothing else is printed" 0 "$(wc -c <"$TMP/out")"
stop gateway
check_text "a gateway ends when it is asked to" 0 "$STATUS"
