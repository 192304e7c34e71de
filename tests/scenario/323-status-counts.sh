#!/bin/sh
# What status counts.
#
# Pool a gets 2 events, 3 samples, a span, 2 gaps of an agent and a metric group, pool b
# an event and a batch that nobody can read.  status counts 9 records of a and 2 of b, so
# 11 in the store: the sum says what its rows say.
# The aggregator stores no byte of batches that it rejects (--rejected-bytes 10): the one
# of 40 bytes is cut, once, which the store and the process count.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

count() {
	field "$1" "$ROOT/tests/flow/counters.py"
}

aggregate --rejected-bytes 10
PARTITION='acct$a'
records <<-END
	event 0 n1 s:x
	event 1 n1 s:x
	group n1 work load:1:gauge
	sample 0 n1 work 1
	sample 1 n1 work 1
	sample 2 n1 work 1
	span 0 1 n1 t name
	gap 0 1 n1 sample full 5
	gap 2 3 n1 event full 1
END
PARTITION='acct$b'
records <<-END
	event 0 n1 s:x
	----
	garbage 40 n1
END
check_status 3 "status, with a rejected batch" poolscope-stats status
check_printed "... counts all records" '^store .* 11 records'
check_printed "... of pool a 9" '^ *acct$a  *1  *9 '
check_printed "... of pool b 2, its sender is a node, too" '^ *acct$b  *2  *2 '
check_text "one batch is rejected" 1 "$(count store/records_rejected)"
check_text "... and cut, as the store counts" 1 "$(count store/rejected_cut)"
check_text "... and the process" 1 "$(count aggregator/rejected_cut)"
