#!/bin/sh
# A model has phase z, then phase a.  In the data a comes first.  The columns of the
# timeline have the order of the model: z, then a.
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
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 w:a
	event 10 n1 w:aa
	event 10 n1 w:z
	event 40 n1 w:zz
END
answer "z stands before a" "node,nodes,begin,total,z,a
n1,1,0.0,40.0,30.0,10.0" sh -c 'poolscope-stats timeline --format csv | tr -d "\r"'
