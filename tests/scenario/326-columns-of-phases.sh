#!/bin/sh
# A model has phases z, a, and one that is called total.  In the data a comes first.  The
# columns have the order of the model: z, a, total; the last one is not the total.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

model work <<-'END'
	phase "z" {
		start = "w:z"
		end = "w:zz"
	}
	phase "a" {
		start = "w:a"
		end = "w:aa"
	}
	phase "total" {
		start = "w:t"
		end = "w:tt"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 w:a
	event 10 n1 w:aa
	event 10 n1 w:z
	event 40 n1 w:zz
	event 40 n1 w:t
	event 42 n1 w:tt
END
answer "z stands before a" "node,nodes,begin,total,longest,longest_seconds,work:z,work:a,work:total
n1,1,0.0,42.0,work:z,30.0,30.0,10.0,2.0" poolscope-stats breakdown --format csv
