#!/bin/sh
# A node reports how long its step took: the events are 10 s apart, for they waited, but the
# step took 4 s ("took" is the attribute "measured" of the model); of a second one, 20 s
# long, it reports nothing.  The statistics are of 4 and 20 s, 24 s in all, in a window as of
# all time.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "step" { start = "w:start" end = "w:end" measured = "took" }
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 w:start
	event 10 n1 w:end took=4
	event 100 n1 w:start
	event 120 n1 w:end
END
numbers() { columns count,sum,min,max poolscope-stats phases --format csv "$@"; }
answer "of all time" "2,24.0,4.0,20.0" numbers
answer "in a window that has all" "2,24.0,4.0,20.0" numbers --from "$(at 0)"
answer "in a window that has one" "1,4.0,4.0,4.0" numbers --to "$(at 50)"
