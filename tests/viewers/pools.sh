# pools - pools of any size (pools.py) in an aggregator, and all of their pictures.
# Read after tests/scenario/lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

pools_start() {
	mkdir -p "$TMP/models"
	cp "$ROOT"/deploy/models/*.conf "$ROOT/tests/viewers/deploy.conf" "$TMP/models"
	aggregate --models "$TMP/models"
}

# pools_send NODES
pools_send() {
	PARTITION="acct\$pool-$1"
	export POOLSCOPE_PARTITION="$PARTITION"
	/usr/bin/python3 "$ROOT/tests/viewers/pools.py" "$1" >"$TMP/records" || exit 1
	records <"$TMP/records"
}

# pools_plot NODES DIR TERM: all but the older tool's picture.
pools_plot() {
	for _view in phases distribution; do
		check "$1: start-up, $_view" poolscope-plot cascade --view $_view --term "$3" -q -o "$2"
	done
	check "$1: phases" poolscope-plot phases --view all --term "$3" -q -o "$2"
	check "$1: test runs" poolscope-plot testrun --view all --term "$3" -q -o "$2"
	check "$1: use" poolscope-plot usage --term "$3" -q -o "$2"
	check "$1: samples" poolscope-plot samples -m system.cpu.time.user -m system.memory.usage.used \
		--term "$3" -q -o "$2"
}
