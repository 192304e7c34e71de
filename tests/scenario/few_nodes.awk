# The records of 14 nodes of which some say nothing at times: node k (n01 to n14) reports 10 k.
# scenario/536 says what follows from them; web/088 looks at it.
#
# SPDX-License-Identifier: MIT
function report(step, from, to, k) {
	for (k = from; k <= to; k++)
		printf "sample %d n%02d app/p %d\n", 10 * step, k, 10 * k
}
BEGIN {
	for (k = 1; k <= 14; k++)
		printf "group n%02d app/p app.depth:{thing}:gauge\n", k
	for (step = 0; step <= 14; step++)
		if (step < 2 || step > 10)
			report(step, 1, 1)
		else if (step < 5 || step == 8 || step == 9)
			report(step, 1, 14)
		else
			report(step, step < 8 ? 9 : 1, step < 8 ? 14 : 7)
}
