#!/bin/sh
# A step of 10 s every 100 s on n1; then an upgrade made it slow, and n2 joined.
#
#   before   n1: 0-10, 100-110, 200-210, 300-310            4 steps of 10 s
#   after    n1: 1000-1020, 1100-1130, 1200 without an end
#            n2: 990-1090, 1110-1150, an end at 1300 without a start
#
# A phase belongs to the window in which it begins, [from, to): the step of n2 from
# 990 on is not in [1000, 2000), though it lasts until 1090.  In [1000, 2000) are
# 20, 30 and 40 s: sum 90, mean 30; p50 is the second of three, 30 s, p90 and p99 the
# third, 40 s; deviations sqrt(200 / 3) = 8.164966 and sqrt(200 / 2) = 10; one start
# and one end are open.  All numbers are exact.  In [0, 1000) are 4 x 10 s and 100 s:
# p50 10, p90 100, sum 140.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
	phase "rare" {
		start = "rare:start"
		end = "rare:end"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event    0 n1 work:start
	event   10 n1 work:end
	event  100 n1 work:start
	event  110 n1 work:end
	event  200 n1 work:start
	event  210 n1 work:end
	event  300 n1 work:start
	event  310 n1 work:end
	event 1000 n1 work:start
	event 1020 n1 work:end
	event 1100 n1 work:start
	event 1130 n1 work:end
	event 1200 n1 work:start
	event  990 n2 work:start
	event 1090 n2 work:end
	event 1110 n2 work:start
	event 1150 n2 work:end
	event 1300 n2 work:end
	event    5 n1 rare:start
	event    6 n1 rare:end
END
# csv COLUMNS FROM TO [ARGUMENT...]
csv() {
	_columns=$1
	_from=$(at "$2")
	_to=$(at "$3")
	shift 3
	columns "$_columns" poolscope-stats phases --name work:step --format csv \
		--from "$_from" --to "$_to" "$@"
}
answer "after the upgrade" "3,90.0,20.0,40.0,30.0,10.0,30.0,40.0,40.0,1,1" \
	csv count,sum,min,max,mean,std_sample,p50,p90,p99,open_starts,open_ends 1000 2000
# shellcheck disable=SC2016 # for the inner shell
answer "... the deviation of all" 8.164966 sh -c 'poolscope-stats phases --name work:step --format json \
	--from "$1" | /usr/bin/python3 -c "import json, sys
print(\"%.6f\" % json.load(sys.stdin)[\"rows\"][0][\"std_population\"])"' sh "$(at 1000)"
answer "before it" "5,140.0,10.0,10.0,100.0,0,0" \
	csv count,sum,min,p50,p90,open_starts,open_ends 0 1000
answer "... by node" "n1,4,10.0
n2,1,100.0" csv node,count,max 0 1000 --by node
answer "... of one node" "4,10.0" csv count,max 0 1000 -n n1
answer "the end of a window is not in it" 1 csv count 1000 1100
answer "... and a nanosecond later it is" 2 csv count 1000 1100.000000001
answer "a window of all is the statistics of all time" \
	"$(columns phase,count,sum,min,max,mean,open_starts,open_ends poolscope-stats phases --format csv)" \
	columns phase,count,sum,min,max,mean,open_starts,open_ends \
	poolscope-stats phases --format csv --from "$(at -1)"
poolscope-stats phases --from "$(at 1000)" >"$TMP/table"
answer "the table has what began then" "work:step 3 20.00 40.00 30.00 8.16 30.00 40.00 40.00 2" sh -c \
	"grep work:step '$TMP/table' | tr -s ' '"
check_status 0 "... and not what did not" sh -c "! grep rare '$TMP/table'"
answer "JSON has every phase" 0 field rows/0/count \
	poolscope-stats phases --name work:rare --format json --from "$(at 1000)"
answer "... without numbers" null field rows/0/p50 \
	poolscope-stats phases --name work:rare --format json --from "$(at 1000)"
check_status 1 "a time in which nothing began" poolscope-stats phases --from "$(at 5000)"
check_printed "... is reported" "no phases that begin in that time"
