#!/bin/sh
# A source has phases without a model, until a model names it.
#
# build:start 0, build:end 20, build:test-start 20, build:test-end 23 and ci:start 30,
# ci:end 40 of n1: none:build 20 s, none:build:test 3 s, none:ci 10 s.  A model of build
# has all:build, from build:start to build:test-end: 23 s.  It replaces both phases of the
# source; ci stays.  Back to no model, everything is as it was.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

phases() {
	columns phase,count,sum poolscope-stats phases --format csv
}
mkdir "$TMP/none"
aggregate --models "$TMP/none"
records <<-'END'
	event 0 n1 build:start
	event 20 n1 build:end
	event 20 n1 build:test-start
	event 23 n1 build:test-end
	event 30 n1 ci:start
	event 40 n1 ci:end
END
answer "without a model" "none:build,1,20.0
none:build:test,1,3.0
none:ci,1,10.0" phases
stop aggregator
model all <<-'END'
	phase "build" {
		start = "build:start"
		end = "build:test-end"
	}
END
check "a rebuild with a model" poolscope-admin rebuild --models "$TMP/models"
check "is consistent" poolscope-admin verify
aggregate --models "$TMP/models"
answer "the model has the source" "all:build,1,23.0
none:ci,1,10.0" phases
records <<-'END'
	event 100 n1 build:start
	event 110 n1 build:test-end
	event 120 n1 ci:start
	event 125 n1 ci:end
END
answer "... for new events, too" "all:build,2,33.0
none:ci,2,15.0" phases
stop aggregator
check "a rebuild without it" poolscope-admin rebuild --models "$TMP/none"
aggregate --models "$TMP/none"
# build:start of 100 has no end, and build:test-end of 110 no start.
answer "all is as before" "none:build,1,20.0,1,0
none:build:test,1,3.0,0,1
none:ci,2,15.0,0,0" columns phase,count,sum,open_starts,open_ends poolscope-stats phases --format csv
stop aggregator

# The word for phases without a model is no model's.
model none <<-'END'
	phase "x" {
		start = "x:start"
		end = "x:end"
	}
END
check_status 3 "no model is called none" poolscope-admin models check "$TMP/models/none.conf"
check_printed "... and the message says why" "none.conf:1: no model may be called none or span: those stand for phases without one, and for spans"
