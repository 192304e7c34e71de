#!/bin/sh
# A model has four phases.  One node goes through the first in 60 s and is still in
# the second; nobody ever begins the third.  The fourth begins with the first, and the
# model says that its start alone means nothing.  People read of the first two; programs
# get all four, the last two with count 0.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "first" {
		start = "work:first"
		end = "work:first-end"
	}
	phase "second" {
		start = "work:second"
		end = "work:second-end"
	}
	phase "third" {
		start = "work:third"
		end = "work:third-end"
	}
	phase "fourth" {
		start = "work:first"
		end = "work:fourth-end"
		unmatched = "ignore"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 100 n1 work:first
	event 160 n1 work:first-end
	event 160 n1 work:second
END
check "the table" poolscope-stats phases
check_text "... has what occurred" "work:first 1, work:second 0" \
	"$(awk '$1 ~ /^work:/ { printf "%s%s %s", n++ ? ", " : "", $1, $2 }' "$TMP/out")"
answer "programs get every phase" "work:first,1,0
work:fourth,0,1
work:second,0,1
work:third,0,0" columns phase,count,open_starts poolscope-stats phases --format csv
