#!/bin/sh
# A dump as rows: columns that are asked for, sorted, only the first ones; for people
# and for Markdown.  Three events at 10, 20 and 30 s, the name of one begins as a
# formula does, and the node of one has a comma.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # expanded by the inner shell
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END'
	event 10 n1 work:start size=5
	event 20 n2,x work:=1+1
	event 30 n3 work:end
END
stop aggregator

# dumped ARGUMENT...: without the store's name.
dumped() {
	poolscope-dump --store "$DIR/store" --kind event "$@"
}
answer "columns in the order of asking" 'name,node,time_ns
start,n1,1700000010000000000
'"'"'=1+1,"n2,x",1700000020000000000
end,n3,1700000030000000000' dumped --format csv --columns name,node,time_ns
answer "the latest first" 'node
n3
"n2,x"' dumped --format csv --columns node --sort time_ns --top 2
answer "a cell of JSON" 'attributes
"{""size"": 5}"
{}
{}' dumped --format csv --columns attributes
answer "with a corrected clock there are five more" '"clock,clock_offset_ns,clock_error_ns,raw_time_ns,raw_end_ns' sh -c \
	'poolscope-dump --store "$DIR/store" --format csv --clock auto | sed -n "1s/.*values,/\"/p"'
answer "... which may be asked for" 'node,clock
n1,raw
"n2,x",raw
n3,raw' dumped --format csv --clock auto --columns 'node,clock'
answer "Markdown" '| NODE | NAME |
|---|---|
| n1 | start |
| n2,x | =1+1 |
| n3 | end |' dumped --format md --columns node,name
answer "a table has what people read" 'KIND NODE TIME END SOURCE NAME KEY ATTRIBUTES' sh -c \
	'poolscope-dump --store "$DIR/store" --kind event --format table | head -n 1 | xargs'
check "columns explain themselves" dumped --columns help
check_printed "... in a sentence" 'receive_ns .*when the aggregator received it'
check_status 2 "a column that is none" dumped --format csv --columns nod
check_printed "... names the nearest" "did you mean node or end"
check_status 2 "JSON lines are the records themselves" dumped --top 3
check_printed "... and says so" 'not for --format jsonl'
check_status 2 "following has no rows to sort" dumped --follow --format csv --sort time_ns
check_status 1 "a column that comes with the clock" dumped --format csv --columns clock
check_printed "... is missed without it" "clock"
