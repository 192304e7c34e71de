#!/bin/sh
# Steps of 1, 2, 3, 4 and 100 s.  By nearest rank (p90 is the least duration that is
# not shorter than 90 % of all; numpy.percentile with method="inverted_cdf"):
# 90 % of 5 are 4.5 durations, so p90 is the fifth one, 100 s, as are p99 and the
# maximum; half of 5 are 2.5, so p50 is the third one, 3 s, within one percent.
# Another phase took 7 s, once: a deviation of a sample divides by n - 1 = 0, so it
# is not known, and that of the population is 0.  A third one was never ended: it has
# no minimum, maximum, mean or quantiles.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
	}
	phase "once" {
		start = "once:start"
		end = "once:end"
	}
	phase "never" {
		start = "never:start"
		end = "never:end"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event    0 n1 work:start
	event    1 n1 work:end
	event 1000 n1 work:start
	event 1004 n1 work:end
	event 2000 n1 work:start
	event 2100 n1 work:end
	event 3000 n1 work:start
	event 3002 n1 work:end
	event 4000 n1 work:start
	event 4003 n1 work:end
	event    0 n1 once:start
	event    7 n1 once:end
	event    0 n1 never:start
END
csv() {
	columns "$2" poolscope-stats phases --name "work:$1" --format csv
}
answer "the greatest value is within reach" "5,1.0,100.0,100.0,100.0" \
	csv step count,min,p90,p99,max
check "the median is the third, within one percent" /usr/bin/python3 -c '
import sys
assert 2.97 <= float(sys.argv[1]) <= 3.03, sys.argv[1]' "$(csv step p50)"
answer "one value has no sample deviation" "1,7.0,0.0," csv once count,p50,std_population,std_sample
answer "nor in JSON" null field rows/0/std_sample \
	poolscope-stats phases --name work:once --format json
answer "none ended: no numbers" "0,,,,,,,1" \
	csv never count,min,max,mean,std_population,p50,p99,open_starts
for number in min max mean std_population std_sample p50 p90 p99; do
	answer "nor in JSON: $number" null field rows/0/$number \
		poolscope-stats phases --name work:never --format json
done
poolscope-stats phases >"$TMP/table"
answer "nor in the table" "work:never 0 - - - - - - - 1" sh -c \
	"grep work:never '$TMP/table' | tr -s ' '"
