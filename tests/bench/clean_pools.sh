# clean_pools - how many stragglers are named in pools in which nothing is wrong.
# Goals: one in ten pools of 60 nodes, five in one of 10,000.
#
#	POOLS=60 LARGE=2 SEED=1 sh tests/bench/clean_pools.sh
# SPDX-License-Identifier: MIT
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
poolscope up >/dev/null
seed=${SEED:-1}

# named WORLD POOLS NODES: the stragglers of all these pools.
named() {
	/usr/bin/python3 tests/bench/clean_pools.py "$seed" "$2" "$3" "$1" >"$TMP/rows"
	poolscope-import -q cascade "$TMP/rows"
	rm "$TMP/rows"
	wait_indexed
	for pool in $(seq 0 $(($2 - 1))); do
		poolscope-stats stragglers -q -p "clean\$$pool" --format csv --table stragglers | tail -n +2
	done | tee "$TMP/named" | wc -l
	poolscope down >/dev/null
	rm -rf "$POOLSCOPE_DIR"
	poolscope up >/dev/null
}
for world in even rough hosts; do
	pools=${POOLS:-60} # a file has 64 at most
	echo "clean_pools: $(named $world "$pools" 60) stragglers in $pools pools of 60 nodes, $world (goal 1 in 10)"
	pools=${LARGE:-2}
	echo "clean_pools: $(named $world "$pools" 10000) stragglers in $pools pools of 10,000 nodes, $world (goal 5 in each)"
done
