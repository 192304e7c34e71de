#!/bin/sh
# Two samples a minute, of which only the rollup is left, and a window that ends between.
#
# n1 reported a load of 10 at 0 s and of 30 at 30 s, a month ago.  The samples are deleted,
# the minute is left.  A window up to 30 s has one of the two, the 10; one up to 31 s
# both, 20 in the mean; one from 30 s on the 30.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=$((($(date +%s) - 30 * 86400) / 3600 * 3600))
. "$(dirname "$0")/lib.sh"

load() {
	columns count,mean poolscope-stats samples -m load --format csv "$@" 2>/dev/null
}

aggregate
records <<-END
	group n1 work load:1:gauge
	sample 0 n1 work 10
	sample 30 n1 work 30
END
stop aggregator
check "the hour is compacted" poolscope-admin compact
delete_samples
answer "both" "2,20.0" load --from "$(at 0)" --to "$(at 31)"
answer "up to the second one" "1,10.0" load --from "$(at 0)" --to "$(at 30)"
answer "from the second one on" "1,30.0" load --from "$(at 30)" --to "$(at 60)"
