#!/bin/sh
# Gauges of programs: numbers that libpoolscope stores when they change, here as metric
# NAME of the metric group app/PROGRAM/NAME, as older versions of it do.
#
# render on n1 finished 0, 10, 20 and 30 frames at 0, 2, 4 and 10 s.  Nothing was stored
# from 4 to 10 s because nothing changed, so 20 counts for 6 s, and the last value as long
# as the one before it: (2 x 0 + 2 x 10 + 6 x 20 + 6 x 30) / 16 = 20.
# render on n2 finished 0 and 40 at 0 and 2 s: mean 20, and 40 is its last.
# encode on n1 had 5 in its queue, once.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
records <<-'END'
	group n1 app/render/frames frames:1:gauge
	group n1 app/encode/queue queue:By:gauge
	sample 0 n1 app/render/frames 0
	sample 2 n1 app/render/frames 10
	sample 4 n1 app/render/frames 20
	sample 10 n1 app/render/frames 30
	sample 0 n2 app/render/frames 0
	sample 2 n2 app/render/frames 40
	sample 3 n1 app/encode/queue 5
	END
answer "the counters of all programs, by node" "app/encode/queue,n1,By,1,5.0,5.0,5.0,5.0
app/render/frames,n1,1,4,0.0,20.0,30.0,30.0
app/render/frames,n2,1,2,0.0,20.0,40.0,40.0" columns group,node,unit,count,min,mean,max,last \
	poolscope-stats samples --metric-group 'app/*' --by node --format csv
answer "those of one program" "frames,6,0.0,40.0" columns metric,count,min,max \
	poolscope-stats samples --metric-group 'app/render/*' --format csv
answer "a counter by its name" "app/encode/queue" columns group \
	poolscope-stats samples -m queue --format csv
