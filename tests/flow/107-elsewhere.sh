#!/bin/sh
# Files of elsewhere: whoever names the pool by --configdir, the configuration by
# --config or the output by -o has them anywhere, whatever the sandbox of an exporter
# leaves open.  Each exporter and each of its verbs, with each of the three.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
golden=$ROOT/tests/golden
pool=mybatchacct\$gpupool # as the JSON files of this case name it
export POOLSCOPE_PARTITION="$pool"

# Not below /tmp, where a sandbox may leave more open.
elsewhere=$(mktemp -d /var/tmp/poolscope.XXXXXX) || exit 1
trap 'rm -rf "$elsewhere"; _end' EXIT
cp -r "$golden/cascade/p02_pool8_p2p_private/config" "$elsewhere/conf"
echo 'log = "info"' >"$elsewhere/other.conf"

# ---- something of everything
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent -n node1 --period 200ms || exit 1
check "a startup is imported" poolscope-import -q cascade "$golden/cascade/p02_pool8_p2p_private/entities.jsonl"
check "a farm is" poolscope-import -q testrun "$golden/testrun/m01_twenty"
check "reports are" poolscope-import -q perf "$golden/perf/r02_four_nodes/reports.json"
check "a job is" poolscope-import -q scanner --job 0 "$golden/scanner/s01_one_worker/db"
check "results are made" poolscope-generate -q results --files 4 --tests 1 --entries 1 -o "$TMP/made"
mkdir "$TMP/archive"
check "... and stored" poolscope-upload -q results -d "$TMP/made" -a "$TMP/archive" --target store --settle 0s
wait_until indexed 60
test=$(poolscope-results -q tests | sed -n 2p)
check "... under a name" test -n "$test"
check "samples come" wait_until '[ "$(poolscope-dump -q --kind sample --name clock | wc -l)" -gt 2 ]' 30
wait_until indexed 60
unset POOLSCOPE_PARTITION

# works NAME COMMAND...: it does, and is denied nothing.
works() {
	check "$@" || return
	check_status 1 "... and is denied nothing" grep -i denied "$TMP/err"
}

# anywhere COMMAND...: the files that name the pool, and the configuration.
anywhere() {
	_words="${1#poolscope-} ${2%%:*} ${3%%[-:]*}"
	works "$_words --configdir" "$@" --configdir "$elsewhere/conf"
	works "$_words --credentials, --config-json, --pool" "$@" --credentials "$elsewhere/conf/credentials.json" \
		--config-json "$elsewhere/conf/config.json" --pool "$elsewhere/conf/pool.json"
	works "$_words --config" "$@" -p "$pool" --config "$elsewhere/other.conf"
}

# each COMMAND...: the same, and its output, which is a file or a directory.
each() {
	rm -rf "$TMP/here.json" "$elsewhere/out.json"
	anywhere "$@" -o "$TMP/here.json"
	works "$_words -o" "$@" -p "$pool" -o "$elsewhere/out.json"
	check "... and its output is there" test -s "$elsewhere/out.json"
}

for verb in cascade phases usage clocks perf "scanner --job 0" runs deltas iterations groups skew; do
	# shellcheck disable=SC2086 # words
	each poolscope-stats $verb -q
done
works "stats status --config" poolscope-stats status -q --config "$elsewhere/other.conf"
works "stats status -o" poolscope-stats status -q -o "$elsewhere/status"
for verb in cascade "samples -m system.cpu.time.* --from -1h" usage testrun "results $test"; do
	# shellcheck disable=SC2086 # words
	each poolscope-plot $verb -q --no-png
done
works "plot testrun --series" poolscope-plot testrun -q -p "$pool" --series "$elsewhere/series"
each poolscope-trace timeline -q
each poolscope-trace scanner --job 0 -q
each poolscope-dump -q --kind event
for verb in tests "starts $test" entities; do
	# shellcheck disable=SC2086 # words
	each poolscope-results $verb -q
done
AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AZURE_STORAGE_ACCOUNT=account AZURE_STORAGE_KEY=a2V5
MLFLOW_TRACKING_URI=http://127.0.0.1:9
export MLFLOW_TRACKING_URI AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AZURE_STORAGE_ACCOUNT AZURE_STORAGE_KEY
anywhere poolscope-fetch azure-table:perf --dry-run -q -o "$TMP/rows"
anywhere poolscope-upload events --target http:http://127.0.0.1:9/ --dry-run -q
anywhere poolscope-upload samples --target influx:http://127.0.0.1:9/db --dry-run -q
anywhere poolscope-upload metrics --target mlflow:run1 --dry-run -q
anywhere poolscope-upload results -d "$TMP/made" -a "$TMP/archive" --target store --dry-run -q
works "fetch -o" poolscope-fetch azure-table:perf --dry-run -q -p "$pool" -o "$elsewhere/rows"
works "upload file" poolscope-upload file "$elsewhere/conf/pool.json" --target s3:bucket/key --dry-run -q \
	--config "$elsewhere/other.conf"

for service in agent broker aggregator; do
	stop "$service"
done
