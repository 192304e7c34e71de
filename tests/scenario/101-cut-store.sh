#!/bin/sh
# A copy of a store lacks its end: the disk was full, or the copy was interrupted.
# Every program says so in a sentence and ends with status 1, none by a signal.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --compact-after 1d
records <<-'END'
	event   0 n1 work:start
	event  10 n1 work:end
END
stop aggregator

# refused NAME: the programs on $TMP/cut.
refused() {
	check_status 1 "$1: a dump" poolscope-dump --store "$TMP/cut"
	check_printed "... says it" "$2"
	check_status 1 "$1: statistics" poolscope-stats phases --store "$TMP/cut"
	check_printed "... say it" "$2"
	check_status 1 "$1: verify" poolscope-admin verify --store "$TMP/cut"
	check_printed "... says it" "$2"
	check_status 1 "$1: a backup" poolscope-admin backup "$TMP/copy" --store "$TMP/cut"
	check_printed "... says it" "$2"
	check_status 1 "$1: an aggregator" timeout 20 poolscope-aggregator --store "$TMP/cut" --dir "$TMP/other"
	check_printed "... says it" "$2"
}
for part in tables journal; do
	for bytes in 0 100 8192 12288; do
		rm -rf "$TMP/cut" "$TMP/copy"
		cp -r "$DIR/store" "$TMP/cut"
		rm -f "$TMP"/cut/*/lock.mdb
		truncate -s "$bytes" "$TMP/cut/$part/data.mdb"
		refused "$part of $bytes bytes" 'data.mdb was cut\|its header is not valid'
	done
done
