#!/bin/sh
# The archive of a release that came before: its tables, as they were, in the engine of
# today's ClickHouse.  Today's programs check them, answer from them, make a store of them,
# and an aggregator writes on into another one that has them; the answers are the story's.
# A newer format than this program's is refused, and left as it is.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
need_python chdb chdb-core || skip "the package chdb-core cannot be installed"

ask() {
	curl -sS --fail-with-body -m 60 --data-binary "$1" "http://127.0.0.1:$port/${2:-}"
}
# kept TABLE: what the release had of it, as it had it.
kept() {
	ask "@$1.sql" || return
	[ ! -s "$1.native" ] ||
		ask "@$1.native" "?query=INSERT%20INTO%20pool.$(basename "$1")%20FORMAT%20Native"
}

for release in "$ROOT"/tests/golden/releases/[0-9]*; do
	echo "# ${release##*/}"
	. "$release/story/answers.sh"
	port=$(free_port)
	rm -rf "$TMP/engine" "$TMP/tables"
	serve front "$PARTS/chdb/bin/python" tests/parts/chdb_front.py "$port" "$TMP/engine"
	answers "http://127.0.0.1:$port/ping" front || exit 1
	url=clickhouse://127.0.0.1:$port/pool
	tar -xJf "$release/archive.tar.xz" --no-same-owner -C "$TMP"
	ask "CREATE DATABASE pool"
	for table in "$TMP"/tables/*.sql; do
		kept "${table%.sql}" || fail "$table is made"
	done
	check "its tables get what newer ones have" poolscope-archive create --to "$url"
	check "nothing else must be done" poolscope-archive check --to "$url"
	aggregate --archive-only "$url"
	story_answers "its archive"
	stop aggregator
	check "a store is made of it" poolscope-archive restore --from "$url" "$TMP/restored"
	story_answers "the store of it" --store "$TMP/restored"
	check "... is right" poolscope-admin verify --store "$TMP/restored"
	rm -rf "$TMP/restored"
done

format=$(ask "SELECT max(toUInt64OrZero(value)) FROM pool.meta WHERE name = 'format'")
ask "INSERT INTO pool.meta (name, value) VALUES ('format', '$((format + 1))')"
ask "SELECT name, value FROM pool.meta ORDER BY name, value" >"$TMP/before"
check_status 1 "a newer format is refused by create" poolscope-archive create --to "$url"
check_printed "... with both numbers" "has format $((format + 1)), this program knows formats up to $format; use a newer poolscope"
check_status 1 "... by restore" poolscope-archive restore --from "$url" "$TMP/restored"
check_printed "... with both numbers" "has format $((format + 1)), this program knows formats up to $format; use a newer poolscope"
check_status 1 "... by who answers from it" poolscope-aggregator --archive-only "$url"
check_printed "... with both numbers" "has format $((format + 1)), this program knows formats up to $format; use a newer poolscope"
ask "SELECT name, value FROM pool.meta ORDER BY name, value" >"$TMP/after"
check "... and left as it is" cmp "$TMP/before" "$TMP/after"
