# testruns - what the aggregator has of a device farm, for flow tests.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# dump PARTITION [OPTION...]: all its records, when all are there.
dump() {
	wait_until indexed 60 || return
	_p=$1
	shift
	timeout 60 poolscope-dump -q -p "$_p" --format jsonl "$@"
}

# has PARTITION DIR [NODE]: the partition has what the files of DIR say.
has() {
	_p=$1
	shift
	dump "$_p" | /usr/bin/python3 "$ROOT/tests/flow/testruns.py" "$@"
}
