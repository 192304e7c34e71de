#!/bin/sh
# What a head sends arrives after another one has taken its partition over: an insert
# that a slow connection holds back, a head that stood still (SIGSTOP) and wakes up.  What follows from records stays what the new head says; of
# records the archive has those of the new head, and perhaps some that the old one had accepted; each once.  It can be read and restored, and
# the old head is refused by name.  CLAIMS (7), one kind after the other.
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
CLAIMS=${CLAIMS:-7}
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
# said_of NAME SOURCE...: what follows from records, and the records, in order.
said_of() {
	_name=$1
	shift
	for _what in runs groups phases; do
		poolscope-stats $_what -p 'demo$farm' --format json "$@" || return 1
	done >"$TMP/$_name.answers" &&
		poolscope-dump -q -p 'demo$farm' --format jsonl --kind phase --kind run "$@" >>"$TMP/$_name.answers" &&
		poolscope-dump -q -p 'demo$farm' --format jsonl --kind event --kind entity "$@" |
		sort >"$TMP/$_name.records"
}
of_archive() { said_of archive --connect "$CLUSTER/pool" --archive-password "$TMP/writer"; }
# within ONE OTHER: each record of one is in the other.
within() { test -z "$(comm -23 "$TMP/$1.records" "$TMP/$2.records" | head -c 300 | tee /dev/stderr)"; }
once() { test -z "$(uniq -d "$TMP/$1.records" | head -c 300 | tee /dev/stderr)"; }

# steps COUNT: as many phases.
first=0
steps() {
	/usr/bin/python3 -c 'import json, sys
first, count = map(int, sys.argv[1:])
for i in range(first, first + count):
    for at, event in (0, "step:start"), (1, "step:end"):
        print(json.dumps({"ts": "%d.25" % (1650020400 + 2 * i + at), "source": "test", "event": event, "node": "n1",
            "message": "id=%d" % i}))' $first "$1" >"$TMP/steps"
	first=$((first + $1))
	poolscope-import emits -p 'demo$farm' "$TMP/steps" >/dev/null
}

newest() { for n in 1 3; do ask $n "SELECT max(pos) FROM pool.$1"; done; }

archive create --to "$CLUSTER/pool" >"$TMP/created" || exit 1
store=$TMP/store0
round=0
while [ $round -lt "$CLAIMS" ]; do
	round=$((round + 1))
	# shellcheck disable=SC2086 # words
	set -- commits stop streams runs partitions sums groups
	shift $(((round - 1) % 7))
	kind=$1
	# From now on a restore cannot derive everything from events.
	[ "$kind" != partitions ] ||
		check "records of years ago are given up" archive retain --to "$CLUSTER/pool" --before 2000-01-01
	old=old$round new=new$round
	head_of $old "$store" "$through" || exit 1
	check "round $round: runs come" load 3
	check "... and steps" steps 20
	check "... and are archived" settled
	listen
	case $kind in
	stop) # it stands still, wherever it is
		load 20 &
		loading=$!
		wait_until '[ "$(archive_word archive_records_pending)" != 0 ]' 60
		kill -STOP "$(pid $old)"
		;;
	*) # an insert is on its way
		manner "hold INSERT .$kind"
		[ "$kind" = sums ] || check "... more come" load 3
		[ "$kind" != sums ] || check "... steps come" steps 20
		check "... and rows of $kind are held back" wait_until 'says "^held"' 60
		;;
	esac
	# Test runs cannot be derived again: others are sent at the same time.
	case $kind in
	partitions | groups)
		check "... test runs are there" wait_until '[ "$(newest runs)" = "$(newest streams)" ]' 60
		;;
	esac
	store=$TMP/store$round
	check "... a store is made of the archive" archive restore --from "$CLUSTER/pool" "$store"
	check "... and takes over" archive takeover --to "$CLUSTER/pool" --store "$store"
	manner pass
	case $kind in
	stop) kill -CONT "$(pid $old)" && wait "$loading" ;;
	*) check "... what was held back arrives" wait_until 'says "^delivered"' 60 ;;
	esac
	check "... the old one is refused" wait_until 'archive_word archive_problem | grep -q "belongs to another aggregator"' 60
	head_of $new "$store" || exit 1
	check "... the new one goes on" load 4
	check "... and archives" settled
	check "... it answers" said_of store --store "$store"
	check "... and so does the archive" of_archive
	check "... the same" cmp "$TMP/store.answers" "$TMP/archive.answers"
	check "... of all its records" within store archive
	check "... each once" once archive
	for each in "$old-broker" "$old" "$new-broker" "$new"; do stop "$each"; done
	check "... a store is made of the archive" archive restore --from "$CLUSTER/pool" "$TMP/copy$round"
	check "... and answers" said_of copy --store "$TMP/copy$round"
	check "... the same" cmp "$TMP/store.answers" "$TMP/copy.answers"
	check "... of all its records" within store copy
	check "... and none that the archive lacks" within copy archive
	check "... each once" once copy
	[ "$kind" != commits ] || check "... nothing came late" cmp "$TMP/store.records" "$TMP/archive.records"
	check "... a takeover can be repeated" archive takeover --to "$CLUSTER/pool" --store "$store"
	rm -rf "$TMP/copy$round"
done
