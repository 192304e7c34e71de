#!/bin/sh
# Someone types -p prodacct$render-60 without quotes; the shell replaces $render by
# nothing, and the program gets prodacct-60.  It asks, and stores nothing.  Written
# prodacct/render-60 it is the same partition as 'prodacct$render-60', everywhere.
# A sender of before has stored 3 events of 2 nodes as prodacct-60: they are dropped,
# and the 4 events of the right partition stay.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
right='prodacct$render-60'
unset POOLSCOPE_PARTITION
question="partition 'prodacct-60' is not account\$pool: did the shell replace"

aggregate --accept 'prodacct/*' --accept prodacct-60
start broker poolscope-broker || exit 1
wrong_usage "emit asks" "$question" poolscope-emit -p prodacct-60 work start
check_printed "... and says how to write it" "single quotes, or write account/pool"
wrong_usage "run asks" "$question" poolscope-run -p prodacct-60 -- true
wrong_usage "import asks" "$question" poolscope-import -p prodacct-60 cascade "$TMP/none"
wrong_usage "generate asks" "$question" poolscope-generate testrun --runs 1 -p prodacct-60
wrong_usage "a key asks" "$question" poolscope-keys new n1 -p prodacct-60
check_status 1 "an agent asks" timeout 30 poolscope-agent -p prodacct-60
check_printed "... in the same words" "$question"
check_status 1 "an exporter asks" poolscope-dump -p prodacct-60
check_printed "... in the same words" "$question"
check_status 1 "so does the environment" env POOLSCOPE_PARTITION=prodacct-60 poolscope-stats phases
check_printed "... in the same words" "$question"

start agent poolscope-agent --no-samples -n n1 -p prodacct/render-60 || exit 1
check "an agent takes the other spelling" poolscope-emit work start --wait stored
check "... emit does" poolscope-emit -p prodacct/render-60 work end --wait stored
check "... its lines do" sh -c 'echo "{\"source\":\"work\",\"event\":\"line\",\"partition\":\"prodacct/render-60\"}" |
	poolscope-emit --stdin --wait stored'
printf '{"PartitionKey":"x$y","RowKey":"1","Event":"work:row","NodeId":"n2"}\n' >"$TMP/row"
check "... import does" poolscope-import -p prodacct/render-60 cascade "$TMP/row"
stop agent
wait_until indexed 30 || fail "... and all is indexed"
events() {
	poolscope-dump -q -p "$1" --kind event --format jsonl | wc -l
}
check_text "all are in one partition" 4 "$(events "$right")"
check_text "... which exporters read under both names" 4 "$(events prodacct/render-60)"

PARTITION=prodacct-60
records <<-'END'
	event 0 n1 work:start
	event 1 n1 work:end
	event 2 n2 work:start
END
check "what would be dropped is shown" poolscope partition drop prodacct-60 --dry-run
check_text "... in numbers" "partition prodacct-60 would be dropped: 3 records of 2 nodes" "$(cat "$TMP/out")"
check "... and is still there" sh -c 'poolscope partition drop prodacct-60 --dry-run | grep ": 3 records of 2 nodes"'
check "it is dropped" poolscope partition drop --yes prodacct-60
check_text "... all of it" "partition prodacct-60 was dropped: 3 records of 2 nodes" "$(cat "$TMP/out")"
check_text "... and nothing else" 4 "$(events "$right")"
check_status 1 "nothing is left of it" poolscope partition drop --yes prodacct-60
check_printed "... and the message says so" "has no records of this partition"
check_status 1 "what there never was is not dropped" poolscope partition drop --yes prodacct/none
check_printed "... and the message says so" "has no records of this partition"
check "the list has the other alone" poolscope partition list
check_text "... with its nodes" "$right 2" "$(awk 'NR > 1 { print $1, $2 }' "$TMP/out")"
records <<-'END'
	event 3 n3 work:start
END
check "who sends again makes it again" poolscope partition list
check_text "... with what was sent since" "prodacct-60 1 1" "$(awk '$1 == "prodacct-60" { print $1, $2, $3 }' "$TMP/out")"
stop aggregator
check "the store is whole" poolscope-admin verify
