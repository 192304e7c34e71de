#!/bin/sh
# Somebody emits with whole seconds, so that phases begin and end at the same time.
#
# n1 prepares itself from 100 to 100 s; n2 from 200 to 203 s and, in the same second in
# which that ends, from 203 to 203 s: of the two ends of 203 s the first one ends what
# waits, the second one what began in that second.  The end comes before its start, and
# n1's after everything else.  Three preparations of 0, 3 and 0 s, 1 s in the mean, no
# event is alone.  The answer is the same after a rebuild, in the copy that restore makes
# of a backup, and after a rebuild of that, and verify finds nothing.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

phases() {
	columns phase,count,mean,open_starts,open_ends poolscope-stats phases --format csv "$@" | grep nodeprep
}
# agrees WHAT DIRECTORY: the store verifies, and answers.
agrees() {
	check "$1: verify finds nothing" poolscope-admin verify --store "$2"
	answer "$1: the same answer" "$wanted" phases --store "$2"
}

aggregate
records <<-END
	event 203 n2 nodeprep:end
	event 200 n2 nodeprep:start
	event 100 n1 nodeprep:start
	----
	event 203 n2 nodeprep:start
	event 203 n2 nodeprep:end
	----
	event 100 n1 nodeprep:end
END
wanted="cascade:nodeprep,3,1.0,0,0"
stop aggregator
agrees "as they came" "$DIR/store"
check "compact" poolscope-admin compact
check "rebuild" poolscope-admin rebuild
agrees "after a rebuild" "$DIR/store"
check "backup" poolscope-admin backup "$TMP/copy"
check "restore" poolscope-admin restore "$TMP/copy" --store "$TMP/other"
agrees "restored" "$TMP/other"
check "rebuild again" poolscope-admin rebuild --store "$TMP/other"
agrees "restored and rebuilt" "$TMP/other"
