#!/bin/sh
# Four nodes go through work:step: cn1 in 10 s, cn2 in 40 s, cn3 in 20 s, cn4 in 30 s; and
# through work:rest, in the other order: 4, 1, 3 and 2 s.
#
# The two longest of step are cn2 and cn4, of rest cn1 and cn3: --top counts for each
# phase (rest comes before step).  By name cn1 comes first.  A tie keeps the order of before.  Spans: cn1 has two of
# 5 s (sum 10, count 2), cn2 one of 7 s: by sum cn1, by max cn2, by count cn1.
# Usage: cn1 is busy for 30 of 60 s on one processor, cn2 for 45 s: 0.5 and 0.75 minutes of
# an hour are 30/3600 and 45/3600 CPU hours; "all" is the sum of both although one is shown.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
	phase "rest" {
		start = "work:end"
		end = "work:rested"
	}
END
cp "$ROOT"/deploy/models/cascade.conf "$TMP/models" || exit 1
aggregate --models "$TMP/models"
{
	for row in 1/10/4 2/40/1 3/20/3 4/30/2; do
		node=cn${row%%/*}
		step=${row#*/}
		rest=${step#*/}
		step=${step%/*}
		echo "event 0 $node work:start"
		echo "event $step $node work:end"
		echo "event $((step + rest)) $node work:rested"
	done
	echo "span 0 5 cn1 t a"
	echo "span 5 10 cn1 t a"
	echo "span 0 7 cn2 t b"
	for node in cn1 cn2; do
		echo "group $node cpu poolscope.boot:1:gauge system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter"
	done
	echo "sample 0 cn1 cpu 7 0 0"
	echo "sample 60 cn1 cpu 7 3000 3000"
	echo "sample 0 cn2 cpu 7 0 0"
	echo "sample 60 cn2 cpu 7 4500 1500"
} | records
answer "the worst two nodes of each phase" "work:rest,cn1,4.0
work:rest,cn3,3.0
work:step,cn2,40.0
work:step,cn4,30.0" columns phase,node,max poolscope-stats phases --by node --sort max --top 2 --format csv
answer "the same in a window" "work:rest,cn1,4.0" columns phase,node,max poolscope-stats phases \
	--by node --name work:rest --sort p50 --top 1 --from 2023-11-14 --format csv
answer "the longest phase of the pool" "work:step,100.0" columns phase,sum \
	poolscope-stats phases --sort sum --top 1 --format csv
check "the table" poolscope-stats phases --by node --sort max --top 2
check_text "... begins with them" "cn1 cn3 cn2 cn4 " "$(awk '$2 ~ /^cn/ { printf "%s ", $2 }' "$TMP/out")"
answer "spans by their longest" "cn2,7.0
cn1,5.0" columns node,max poolscope-stats spans --by node --sort max --format csv
answer "... by their count" "cn1" columns node poolscope-stats spans --by node --sort count --top 1 --format csv
answer "... by name" "a
b" columns name poolscope-stats spans --sort name --format csv
answer "use, the busiest node" "cn2,0.0125" columns node,cpu_hours_used poolscope-stats usage \
	--sort cpu_hours_used --top 1 --format csv
check "... as a table" poolscope-stats usage --sort cpu_hours_used --top 1
check_text "... whose sum has all nodes" "cn2 all" \
	"$(awk '$1 ~ /^(cn|all)/ { printf "%s%s", s, $1; s = " " }' "$TMP/out")"
check_text "... 75 s of 120" "0.0208" "$(awk 'END { print substr($1, 1, 6) }' "$TMP/out")"
wrong_usage "a column that does not exist" "not one of phase, node, key, count.*did you mean max," \
	poolscope-stats phases --sort mxa
wrong_usage "a column of another question" "'max' is not one of state, problem, text" poolscope-stats status --sort max

# Startups: b1 began at 1000 s and loaded its global resources in 20 s, b2 at 1010 s in 30 s.
begin_pool() {
	echo "event $1 $3 nodeprep:start"
	echo "event $(($1 + 5)) $3 nodeprep:end"
	echo "event $(($1 + 10)) $3 cascade:start"
	echo "event $(($1 + 10 + $2)) $3 cascade:gr-done"
}
{
	begin_pool 1000 20 b1
	begin_pool 1010 30 b2
} | records
check "startups, the slowest first" poolscope-stats cascade --sort global_resources_loaded --top 1
check_text "... which began 10 s after the first" "b2 10.0 30.0" \
	"$(awk '$1 ~ /^b[12]$/ && NF == 10 { print $1, $2, $6 }' "$TMP/out" | sed 's/\.0*\( \|$\)/.0\1/g')"
