# sampler - what poolscope-agent --replay makes of images of /proc: the
# recorded ones, ones made up, and this machine's; psutil is the judge.
# Read by tests/golden/run.sh; GOLDEN=perf-sampler runs nothing else.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
perf=$ROOT/tests/golden/perf

oracle() {
	/usr/bin/python3 "$perf/oracle.py" "$@"
}

# judged NAME COMMAND...: passes, too, when there is no psutil to ask.
judged() {
	_name=$1
	shift
	oracle "$@" >"$TMP/out" 2>&1
	case $? in
	0) pass "$_name";;
	77) pass "$_name (no psutil to ask)";;
	*) fail "$_name" "$TMP/out";;
	esac
}

replayed() {
	poolscope-agent --replay "$@" --print perf >"$TMP/reports.json"
}

for case in "$perf"/f*; do
	name=$(basename "$case")
	check "$name: images are sampled" replayed "$case"
	check "$name: the reports are the same" \
		oracle compare "$case/expected/reports.json" "$TMP/reports.json"
done
check "images may be named one by one" replayed "$perf"/f01_two_cpu/snap_00[0-3]
check "and are the same" oracle compare \
	"$perf/f01_two_cpu/expected/reports.json" "$TMP/reports.json"

# A container: no disks, no network, nobody who knows the file system.
for i in 0 1; do
	mkdir -p "$TMP/bare/snap_$i"
	cp "$perf/f01_two_cpu/snap_00$i/stat" "$perf/f01_two_cpu/snap_00$i/meminfo" \
		"$TMP/bare/snap_$i"
done
check "a host without disks and network gives a report" replayed "$TMP/bare"
check "with zeros for what it has not" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))[0]
sys.exit(not (r["cpu_pct_per_cpu_max"] == 84.0 and r["mem_percent"] == 89.7 and
    all(r[k] == 0 for k in r if "_io_" in k or k == "disk_usage_percent")))' "$TMP/reports.json"
rm "$TMP/bare/snap_1/meminfo"
check_status 1 "an image without memory is refused" replayed "$TMP/bare"
check_printed "by name" "snap_1/meminfo: No such file"
check_status 1 "a directory without images is refused" replayed "$TMP/run"
check_status 2 "no directory at all is wrong usage" poolscope-agent --replay

judged "images that are made up: psutil says the same" \
	random "$B/bin/poolscope-agent" "$TMP/random" ${SEED:+"$SEED"}
judged "this machine: psutil says the same within a tick" \
	live "$B/bin/poolscope-agent" "$TMP/live"
