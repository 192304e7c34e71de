#!/bin/sh
# Nodes that are heard, and yet something is wrong with them: their start is incomplete, or records of them
# were lost.
#
# Now is 0.  The model requires prep, then load.  The pool began at -3000: n1, n2 and n3 were prepared until
# -2990 and loaded from -2980 to -2970: ready.
#
#   n4  was prepared until -2990, and never began to load: it is in no phase, and not ready
#   n5  is prepared since -3000: of three values nothing is usual, but it is not ready
#   n6  as n4, but its agent was stopped: that is all
#   n1  lost 5 samples from -100 to -90
#   n2  lost some a day and more ago, at -90000: that was
#   story  sent a batch of which a record cannot be read
#
# All were heard at -5.  Nothing was heard of the start since -2970, longer than the pause of 600 s that
# ends one; so it is incomplete.  When n3 begins once more at -60, a start is under way, and nobody is
# judged before it is over.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
	phase "load" {
		start = "load:start"
		end = "load:end"
		required = true
	}
END
aggregate --models "$TMP/models"
{
	for i in 1 2 3 4 5 6; do
		echo "event -3000 n$i prep:start"
		[ $i = 5 ] || echo "event -2990 n$i prep:end"
	done
	for i in 1 2 3; do
		echo "event -2980 n$i load:start"
		echo "event -2970 n$i load:end"
	done
	for i in 1 2 3 4 5 6; do
		echo "event -5 n$i other:one"
	done
	cat <<-'END'
		event -5 story other:one
		bye n6
		gap -100 -90 n1 sample slow 5
		gap -90010 -90000 n2 sample slow 5
		----
		garbage 10 story
	END
} | records
wrong() {
	poolscope nodes --format csv --sort node >"$TMP/nodes.csv" # some need attention: 3
	columns node,wrong cat "$TMP/nodes.csv"
}
check_text "what is wrong" 'n1,records lost
n2,
n3,
n4,start incomplete
n5,start incomplete
n6,
story,records lost' "$(wrong)"
check_status 3 "status counts them" poolscope status
check_printed "... by reason" "nodes need attention (2 whose start is incomplete, 2 that lost records): poolscope nodes -p 'acct.pool'"
answer "so do metrics" 'poolscope_pool_attention{partition="acct$pool",reason="lost"} 2
poolscope_pool_attention{partition="acct$pool",reason="phase"} 0
poolscope_pool_attention{partition="acct$pool",reason="start"} 2' \
	sh -c 'poolscope stats metrics | grep "^poolscope_pool_attention{.*\"\(lost\|phase\|start\)\"" | LC_ALL=C sort'
check "top says so" sh -c 'poolscope top --once -p "$1" | grep -q "^n4 .*start incomplete" ' - "$PARTITION"
records <<-'END'
	event -60 n3 prep:start
END
check_text "a start is under way" 'n1,records lost
n2,
n3,
n4,
n5,
n6,
story,records lost' "$(wrong)"
records <<-'END'
	event -55 n3 prep:end
	event -50 n3 load:start
	event -45 n3 load:end
	event -40 n4 load:start
	event -35 n4 load:end
	event -30 n5 prep:end
	event -29 n5 load:start
	event -25 n5 load:end
END
check_text "all are ready" 'n1,records lost
n2,
n3,
n4,
n5,
n6,
story,records lost' "$(wrong)"
