# Samples as pictures and as use: a real agent's, while it runs and after.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
pool=acct\$pool
POOLSCOPE_PARTITION=$pool
POOLSCOPE_PERIOD=100ms
export POOLSCOPE_PARTITION POOLSCOPE_PERIOD

# Whatever happens, nothing stays behind.
trap 'poolscope down; _end' EXIT

# ---- wrong usage ----
check_status 2 "samples of no metric" poolscope-plot samples
check_printed "says what it needs" "samples needs --metric"
check_status 2 "cascade with a metric" poolscope-plot cascade -m x
check_status 2 "samples in a view" poolscope-plot samples -m x --view all
check_status 2 "use of a metric" poolscope-plot usage -m x
check_status 2 "use by something" poolscope-stats usage --by node
check_status 1 "samples of no store" poolscope-plot samples -m x --store "$TMP/none"

# ---- what an agent samples ----
samples() {
	poolscope-dump --kind sample --name cpu --format jsonl | wc -l
}
check "an instance with an agent" poolscope up --agent
check "a job begins" poolscope job start 4711 --wait stored
before=$(samples)
check "and is sampled" wait_until "[ \"\$(samples)\" -ge $((before + 20)) ]" 30
check "the job ends" poolscope job stop 4711 --wait stored
until=$(($(date +%s) + 1))
check "time goes on" wait_until "[ \"\$(date +%s)\" -gt $((until + 1)) ]" 10

check_status 1 "a metric that is not there" poolscope-plot samples -m nothing -o "$TMP/none"
check_printed "leads to those that are" "no samples of these metrics"
check "leaves no directory" test ! -e "$TMP/none"
check_status 1 "a job that never ran" poolscope-plot samples -m 'system.cpu.*' --job 17 -o "$TMP/none"
check_printed "is named" "no job '17'"
check_status 1 "a time when nothing was" poolscope-plot samples -m 'system.*' --from 1 --to 2
check_status 1 "use of that time" poolscope-stats usage --from 1 --to 2
check "pictures of processors" poolscope-plot samples -m 'system.cpu.time.*' -o "$TMP/run" \
	--to "$until" --step 100ms
base=acct-pool-system.cpu.time.user-cpu
for file in "$base.dat" "$base.plot" "$base.png" acct-pool-system.cpu.time.idle-cpu.png; do
	check "there is $file" test -s "$TMP/run/$file"
done
check "the picture says the step and what it is from" \
	grep -q "1 node.* steps of .* s from raw samples" "$TMP/run/$base.plot"
check "a counter is a rate" grep -q 'of the node.*s processors"' "$TMP/run/$base.plot"
check "in letters, too" poolscope-plot samples -m 'system.cpu.time.user' --term dumb -o "$TMP/dumb"
check_printed "with a title" "system.cpu.time.user of cpu, acct[$]pool"
mkdir "$TMP/empty" && cd "$TMP/empty" || exit 1
check "where no directory is named letters are all there is" \
	poolscope-plot samples -m 'system.cpu.time.user' --term dumb
check_printed "... a picture" '\*\*'
check_text "... and no file" "" "$(ls)"
cd "$TMP" || exit 1
check "in sixels, too" poolscope-plot samples -m 'system.cpu.time.user' --term sixel -o "$TMP/dumb"
check "a device's" poolscope-plot samples -m 'system.memory.usage.*' --metric-group 'mem*' --no-png -o "$TMP/run"
check "draws nothing when not asked to" \
	test ! -e "$TMP/run/acct-pool-system.memory.usage.free-memory.png"
check "of a job's time" poolscope-plot samples -m system.cpu.time.user --job 4711 --step 100ms -o "$TMP/job"
check "there is less" python3 -c 'import sys
job, run = (len(open(f).readlines()) for f in sys.argv[1:])
sys.exit(not 2 < job <= run)' "$TMP/job/$base.dat" "$TMP/run/$base.dat"
check "the use of nodes as a picture" poolscope-plot usage -o "$TMP/run"
check "is there" test -s "$TMP/run/acct-pool-usage.png"
check "the use of nodes and jobs" poolscope-stats usage --format json
cp "$TMP/out" "$TMP/usage.json"
check "is of this node and its job" python3 -c 'import json, sys
usage = json.load(open(sys.argv[1]))
node, = (row for row in usage["rows"] if row["job"] is None)
job, = (row for row in usage["rows"] if row["job"] is not None)
assert job["job"] == "4711" and job["node"] == node["node"]
assert 0 < job["seconds"] <= node["seconds"]
assert node["cpus"] >= 1 and node["memory_peak_bytes"] > 0
assert node["cpu_hours_used"] + node["cpu_hours_unused"] > 0' "$TMP/usage.json"
check "as a table" poolscope-stats usage
check_printed "by job" "^4711 "
check "line by line" poolscope-stats usage --format jsonl
check_text "... head, node, job, both sums, end" 6 "$(wc -l <"$TMP/out")"
check "one job's" poolscope-stats usage --job 4711 --format csv
check_text "has a line for its node" 2 "$(wc -l <"$TMP/out")"

# ---- the same when nobody runs ----
check "the instance goes down" poolscope down
check "pictures from the store" poolscope-plot samples -m 'system.cpu.time.*' -o "$TMP/store" \
	--to "$until" --step 100ms
check "are of the same numbers" cmp "$TMP/run/$base.dat" "$TMP/store/$base.dat"
