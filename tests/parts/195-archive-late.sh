#!/bin/sh
# What a head sends arrives after another one has taken its partition over: a commit
# that a slow connection holds back, a head that stood still (SIGSTOP) and wakes up.  The archive stays what the new head has, can be read and
# restored, and the old one is refused by name.  CLAIMS (2), one kind after the other.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck disable=SC2034 # SEED is of load
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
SEED=${SEED:-$(date +%s)}
CLAIMS=${CLAIMS:-2}
echo "seed $SEED"
archive_cluster || exit 1
# shellcheck disable=SC2046 # numbers
set -- $(free_port 4)
echo pass >"$TMP/manner"
through=$CLUSTER/pool
for n in 1 2 3 4; do
	serve "proxy$n" /usr/bin/python3 tests/parts/archive_proxy.py "$1" "$(_port_of $n)" "$TMP/manner" "$SEED"
	through=$(echo "$through" | sed "s/:$(_port_of $n)/:$1/")
	shift
done
manner() {
	echo "$1" >"$TMP/manner.new"
	mv "$TMP/manner.new" "$TMP/manner"
}
# says WORD: a proxy has since the last `listen`.
listen() { for n in 1 2 3 4; do wc -l <"$TMP/proxy$n.log" >"$TMP/proxy$n.seen"; done; }
says() { for n in 1 2 3 4; do tail -n +$(($(cat "$TMP/proxy$n.seen") + 1)) "$TMP/proxy$n.log"; done | grep -q "$1"; }
archive() {
	_verb=$1
	shift
	poolscope-archive "$_verb" --archive-password "$TMP/writer" "$@"
}
# head_of NAME STORE [THROUGH]: an aggregator and a broker of an instance NAME.
head_of() {
	DIR=$TMP/$1 POOLSCOPE_DIR=$TMP/$1
	mkdir -p "$DIR/run"
	start "$1" poolscope-aggregator --store "$2" --archive "${3:-$CLUSTER/pool}" --archive-password "$TMP/writer" \
		--archive-after 200ms --models "$ROOT/deploy/models" && start "$1-broker" poolscope-broker
}
answers_of() {
	for _what in runs groups phases; do
		poolscope-stats $_what -p 'demo$farm' --format json "$@" || return 1
	done
	poolscope-dump -q -p 'demo$farm' --format jsonl --kind event --kind phase --kind run --kind entity "$@"
}
same() {
	answers_of --store "$1" >"$TMP/of-store" &&
		answers_of --connect "$CLUSTER/pool" --archive-password "$TMP/writer" >"$TMP/of-archive" &&
		cmp "$TMP/of-store" "$TMP/of-archive"
}

archive create --to "$CLUSTER/pool" >"$TMP/created" || exit 1
store=$TMP/store0
round=0
while [ $round -lt "$CLAIMS" ]; do
	round=$((round + 1))
	kind=$(((round - 1) % 2))
	old=old$round new=new$round
	head_of $old "$store" "$through" || exit 1
	check "round $round: runs come" load 3
	check "... and are archived" settled
	listen
	case $kind in
	0) # a commit is on its way
		manner "hold INSERT commits"
		check "... more come" load 3
		check "... and the commit is held back" wait_until 'says "^held"' 60
		;;
	1) # it stands still, wherever it is
		load 20 &
		loading=$!
		wait_until '[ "$(archive_word archive_records_pending)" != 0 ]' 60
		kill -STOP "$(pid $old)"
		;;
	esac
	store=$TMP/store$round
	check "... a store is made of the archive" archive restore --from "$CLUSTER/pool" "$store"
	check "... and takes over" archive takeover --to "$CLUSTER/pool" --store "$store"
	manner pass
	case $kind in
	1) kill -CONT "$(pid $old)" && wait "$loading" ;;
	*) check "... what was held back arrives" wait_until 'says "^delivered"' 60 ;;
	esac
	check "... the old one is refused" wait_until 'archive_word archive_problem | grep -q "belongs to another aggregator"' 60
	head_of $new "$store" || exit 1
	check "... the new one goes on" load 4
	check "... and archives" settled
	check "... readers have what it has" same "$store"
	for each in "$old-broker" "$old" "$new-broker" "$new"; do stop "$each"; done
	check "... and so has a store that is made of the archive" archive restore --from "$CLUSTER/pool" "$TMP/copy$round"
	answers_of --store "$TMP/copy$round" >"$TMP/of-copy"
	check "... the same" cmp "$TMP/of-store" "$TMP/of-copy"
	check "... a takeover can be repeated" archive takeover --to "$CLUSTER/pool" --store "$store"
	rm -rf "$TMP/copy$round"
done
