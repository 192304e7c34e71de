# Exporters: where they read, what they refuse, and that nothing half is left.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
case_dir=$ROOT/tests/golden/cascade/p02_pool8_p2p_private
pool=mybatchacct\$gpupool

# valid_json COMMAND...: every line that it prints is strict JSON.
valid_json() {
	"$@" >"$TMP/printed" || return 1
	python3 -c 'import json, sys
def never(word):
    raise ValueError(word)
for line in open(sys.argv[1]):
    json.loads(line, parse_constant=never)' "$TMP/printed"
}

# says WANTED NAME COMMAND...: passes when it prints exactly that file.
says() {
	_file=$1
	_about=$2
	shift 2
	if "$@" >"$TMP/printed" 2>"$TMP/err"; then
		check "$_about" cmp "$_file" "$TMP/printed"
	else
		fail "$_about" "$TMP/err"
	fi
}

# files DIR: the names in it, in a line.
files() {
	(cd "$1" && find . ! -name . | sed 's|^\./||' | sort | tr '\n' ' ')
}

# ---- wrong usage, and nothing there ----
check_status 2 "plot without a picture" poolscope-plot
check_status 2 "plot of something else" poolscope-plot pie
check_printed "which says what there is" "'pie' is not one of cascade"
check_status 2 "plot into nowhere" poolscope-plot cascade -o ""
check_status 2 "stats of something else" poolscope-stats pie
check_status 2 "stats in a format that it has not" poolscope-stats cascade --format pie
check_status 2 "dump of an unknown kind" poolscope-dump --kind pie,event
check_printed "is named by itself" "'pie' is not one of"
check_status 2 "an option of another table" poolscope-stats cascade --by node
check_printed "is not taken for one that did something" "by is for compare, phases, runs, samples, slow, spans, not for cascade"
check_status 2 "--strict of phases" poolscope-stats phases --strict
check_status 3 "status of one pool, where no service runs" poolscope-stats status -p "$pool"
check_status 2 "a store and an endpoint" poolscope-stats status --store a --connect b
for reader in "stats status" "stats phases" "stats metrics" dump "top --once" "results tests" "trace -o $TMP/none.json" "report -o $TMP/none.html"; do
	# shellcheck disable=SC2086 # words
	check_status 2 "$reader of an endpoint that is none" poolscope-$reader --connect pie
	check_printed "... which is named" "^poolscope-${reader%% *}: --connect: pie: an endpoint begins"
done
check_status 2 "dump with an operand" poolscope-dump x
check_status 2 "an unknown option" poolscope-dump --pie
check_status 2 "a pool from two sides" poolscope-plot cascade -p a --configdir x
check_status 1 "no instance, no store" poolscope-stats cascade -p "$pool"
check_printed "which says what to give" "--dir, --store or --connect"
check_status 1 "a store that is none" poolscope-stats cascade -p "$pool" --store "$TMP/none"
check_status 3 "status of nothing" poolscope-stats status
check_printed "reports the broker all the same" "not running"
check_status 1 "config.json is not there" poolscope-plot cascade --configdir "$TMP"
check_printed "which is named" "credentials.json"
check_status 1 "credentials are not given" poolscope-plot cascade --pool x
check_printed "and the message says so" "credentials JSON file not specified"
check_status 1 "config is not given" poolscope-plot cascade --credentials x
check_printed "and the message says so, too" "config JSON file not specified"
check_status 1 "pool is not given" poolscope-plot cascade --credentials x --config-json x
check_printed "and the message says so" "pool JSON file not specified"

# ---- a pool ----
start aggregator poolscope-aggregator --models "$ROOT/deploy/models" || exit 1
start broker poolscope-broker || exit 1
check "rows are imported" poolscope-import cascade "$case_dir/entities.jsonl"
wait_until indexed || exit 1
check "status as a table" poolscope-stats status
check_text "begins with a verdict" "ok: all is well" "$(head -1 "$TMP/out")"
check "all of it" poolscope-stats status -v
check_printed "has the events" "records_event *122"
check_printed "and sizes that can be read" "map_bytes *[0-9]*  [0-9.]* [GT]iB$"
check_printed "and the broker" "^broker"
check "status as JSON" "$ROOT/tests/flow/counters.py"
check "has the partition" python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
assert s["partitions"][sys.argv[2]]["records_event"] == 122, s
assert s["broker"]["peers"] >= 0, s' "$TMP/status" "$pool"

# The same bytes from the aggregator, its store and an endpoint.
poolscope-stats cascade -p "$pool" --format json >"$TMP/asked.json"
poolscope-dump -p "$pool" >"$TMP/asked.jsonl"
check "dump has every event" test "$(wc -l <"$TMP/asked.jsonl")" -eq 122
says "$TMP/asked.json" "the store of a running aggregator says the same" \
	poolscope-stats cascade -p "$pool" --format json --store "$DIR/store"
says "$TMP/asked.jsonl" "the endpoint says the same" \
	poolscope-dump -p "$pool" --connect "ipc://$DIR/run/reader.ipc"
check "the command line is stronger than the environment" env POOLSCOPE_CONFIGDIR=/none \
	POOLSCOPE_STORE=/none poolscope-stats phases -p "$pool" --connect "ipc://$DIR/run/reader.ipc"
mkdir "$TMP/broken" && echo none >"$TMP/broken/libzmq.so.5" && echo none >"$TMP/broken/libcurl.so.4"
says "$TMP/asked.json" "a store is read without libzmq and libcurl" env LD_LIBRARY_PATH="$TMP/broken" \
	poolscope-stats cascade -p "$pool" --format json --store "$DIR/store"
check_status 1 "an endpoint is not" env LD_LIBRARY_PATH="$TMP/broken" \
	poolscope-stats cascade -p "$pool" --connect "ipc://$DIR/run/reader.ipc"
check_printed "and the message says so in a line" "cannot load libzmq, which every endpoint needs"
check "status of another place" poolscope-stats status --store "$DIR/store"
check "does not report the broker here" test -z "$(grep '^broker' "$TMP/out")"
for what in "cascade --format table" "cascade --format csv" "phases" "phases --by node" \
	"phases --format json" "phases --format jsonl --by node" "phases --format csv"; do
	# shellcheck disable=SC2086 # words
	check "stats $what" poolscope-stats $what -p "$pool"
	case $what in
	*csv | *json*) ;;
	"cascade --format table") check_printed "begins with the pool" "^startup of mybatchacct.gpupool (Ubuntu"
		check_printed "has the sums below" "^pull + torrent + load  *[0-9.]* s, mean [0-9.]* s per node$" ;;
	esac
done
check "phases of pulls" poolscope-stats phases -p "$pool" --format jsonl --name 'cascade:pull'
check_printed "are counted" '"count": 5,'
check "dump of everything is strict JSON" valid_json \
	poolscope-dump -p "$pool" --kind event,phase --kind entity,gap,rejected
check "dump of some" poolscope-dump -p "$pool" --name 'cascade:pull-*' --node '*_2-*' \
	--from 1508000000 --to 2017-10-14T16:54:40Z
check "is what was asked for" test "$(wc -l <"$TMP/out")" -eq 2
check "dump as CSV" poolscope-dump -p "$pool" --format csv --kind event,phase -o "$TMP/csv"
check "has as many columns everywhere" python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
assert len(rows) > 122 and {len(r) for r in rows} == {20}, {len(r) for r in rows}' "$TMP/csv"
check_status 1 "a pool without events" poolscope-plot cascade -p "no\$pool" -o "$TMP/no"
check_printed "is a plain sentence" "no cascade events of partition no.pool in "
check "and leaves nothing" test ! -e "$TMP/no"
check "dump of a pool without events" poolscope-dump -p "no\$pool"

# ---- pictures ----
check "all pictures" poolscope-plot cascade --configdir "$case_dir/config" --view all \
	--numbers -o "$TMP/out.d"
check "are all the files there are" test "$(files "$TMP/out.d")" = \
	"mybatchacct-gpupool-distribution.dat mybatchacct-gpupool-distribution.plot mybatchacct-gpupool-distribution.png mybatchacct-gpupool-phases.dat mybatchacct-gpupool-phases.plot mybatchacct-gpupool-phases.png mybatchacct-gpupool.dat mybatchacct-gpupool.json mybatchacct-gpupool.plot mybatchacct-gpupool.png "
rm -rf "$TMP/one.d"
check "without --view" poolscope-plot cascade -p "$pool" -o "$TMP/one.d"
check "there are the phases, which count each moment once" test "$(files "$TMP/one.d")" = \
	"mybatchacct-gpupool-phases.dat mybatchacct-gpupool-phases.plot mybatchacct-gpupool-phases.png "
check "numbers are those of stats" cmp "$TMP/out.d/mybatchacct-gpupool.json" "$TMP/asked.json"
check "letters" poolscope-plot cascade -p "$pool" --term dumb -o "$TMP/out.d"
check_printed "are a picture" "seconds since"
check_printed "... with the pool in its title" " Startup of $pool "
check "vectors" poolscope-plot cascade -p "$pool" --view reference --term svg -o "$TMP/out.d"
check "are one" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
	"$TMP/out.d/mybatchacct-gpupool.svg"
mkdir "$TMP/bin"
# shellcheck disable=SC2016 # for the other shell
printf '#!/bin/sh\necho half; echo "no luck" >&2; exit 3\n' >"$TMP/bin/gnuplot"
chmod +x "$TMP/bin/gnuplot"
check_status 1 "gnuplot fails" env PATH="$TMP/bin:$PATH" \
	poolscope-plot cascade -p "$pool" -o "$TMP/bad"
check_printed "with its words" "gnuplot failed: no luck"
check "and leaves no picture, whole or half" test "$(files "$TMP/bad")" = \
	"mybatchacct-gpupool-phases.dat mybatchacct-gpupool-phases.plot "

# A signal in the middle of drawing: what is half goes.
cat >"$TMP/bin/gnuplot" <<GNUPLOT
#!/bin/sh
echo \$\$ >"$TMP/drawing"
exec tail -f /dev/null
GNUPLOT
(PATH=$TMP/bin:$PATH exec poolscope-plot cascade -p "$pool" -o "$TMP/cut" 2>/dev/null) &
plot=$!
wait_until "[ -s '$TMP/drawing' ]" || exit 1
kill -TERM "$plot"
wait "$plot"
check "plot ends by the signal" test $? -eq 143
check "and leaves no picture" test "$(files "$TMP/cut")" = \
	"mybatchacct-gpupool-phases.dat mybatchacct-gpupool-phases.plot "
# A process that nobody waited for yet has no command line any more.
check "and ends gnuplot" wait_until "! grep -q . '/proc/$(cat "$TMP/drawing")/cmdline'"

# ---- names that bite ----
evil="a'b\"c\`touch HIT\`;#%{}_^@<|\\ \$(touch HIT)"
check "a node with a name that bites" poolscope-import cascade /dev/stdin <<ROWS
{"PartitionKey":"e\$<p'\`id\`","RowKey":"1508000000.5","Event":"nodeprep:start","NodeId":"$(printf %s "$evil" | sed 's/[\\"]/\\&/g')","Message":"offer=\`id\`,sku='x"}
{"PartitionKey":"e\$<p'\`id\`","RowKey":"1508000010","Event":"nodeprep:end","NodeId":"$(printf %s "$evil" | sed 's/[\\"]/\\&/g')"}
{"PartitionKey":"e\$<p'\`id\`","RowKey":"1508000011","Event":"cascade:start","NodeId":"$(printf %s "$evil" | sed 's/[\\"]/\\&/g')"}
{"PartitionKey":"e\$<p'\`id\`","RowKey":"1508000020","Event":"cascade:gr-done","NodeId":"$(printf %s "$evil" | sed 's/[\\"]/\\&/g')"}
ROWS
wait_until indexed || exit 1
bites="e\$<p'\`id\`"
check "is plotted" poolscope-plot cascade -p "$bites" --view all -o "$TMP/bites"
check "in ten columns" test "$(awk '{ print NF }' "$TMP/bites/e-%3Cp%27%60id%60.dat" | sort -u)" = 10
check "and nothing was run" test -z "$(find "$TMP/bites" . -maxdepth 1 -name 'HIT*')"
check "as JSON it is strict" valid_json poolscope-dump -p "$bites"
check "as a table" poolscope-stats cascade -p "$bites"

# ---- pools that are not as they should be ----
long=$(printf '%0200d' 0)
check "odd nodes" poolscope-import cascade /dev/stdin <<ROWS
{"PartitionKey":"odd\$clock","RowKey":"1508000100","Event":"nodeprep:start","NodeId":"n"}
{"PartitionKey":"odd\$clock","RowKey":"1508000110","Event":"nodeprep:end","NodeId":"n"}
{"PartitionKey":"odd\$clock","RowKey":"1508000050","Event":"cascade:start","NodeId":"n"}
{"PartitionKey":"odd\$clock","RowKey":"1508000060","Event":"cascade:gr-done","NodeId":"n"}
{"PartitionKey":"odd\$clock","RowKey":"1508000070","Event":"cascade:pull-end","NodeId":"n","Message":"img=a"}
{"PartitionKey":"odd\$names","RowKey":"1508000100","Event":"nodeprep:start","NodeId":"$long-1"}
{"PartitionKey":"odd\$names","RowKey":"1508000100","Event":"nodeprep:start","NodeId":"$long-2"}
ROWS
wait_until indexed || exit 1
# The newest start is that of 100, and has nothing after its preparation.
check_status 1 "what was before the newest start of a node is not of it" \
	poolscope-plot cascade -p "odd\$clock" --view all -o "$TMP/odd"
check_printed "... so that nothing can be drawn" "none of the 1 nodes is complete: nothing to draw"
check_status 1 "an end without its start is refused by --strict" \
	poolscope-stats cascade -p "odd\$clock" --strict
check_printed "with what is true of it" "1 of 1 nodes lack events or have unmatched ones"
check "phases that may stand alone" poolscope-stats phases -p "odd\$clock"
check_text "are not called open, and not listed for a start alone" 0 \
	"$(grep -c docker-install "$TMP/out")"
check_status 1 "nodes without an end" poolscope-plot cascade -p "odd\$names" -o "$TMP/odd"
check_printed "are reported to lack it" "incomplete (missing or unmatched events): nodeprep:end"
check "long names of nodes" poolscope-stats phases -p "odd\$names" --by node
check_printed "... are whole where the output is no terminal" "$long-1"

# ---- without the aggregator ----
stop broker
stop aggregator
says "$TMP/asked.json" "the store alone says the same" \
	poolscope-stats cascade -p "$pool" --format json
check_status 3 "status of the store alone" poolscope-stats status
check_printed "misses the broker" "not running"
began=$(date +%s%N)
check_status 1 "an endpoint without anybody" timeout 60 poolscope-stats cascade -p "$pool" \
	--connect "ipc://$DIR/run/reader.ipc"
check_printed "and the message says so" "ipc://$DIR/run/reader.ipc: nobody listens there (is the aggregator running?)"
check_status 1 "an address without anybody" timeout 60 poolscope-stats cascade -p "$pool" \
	--connect tcp://127.0.0.1:9 --insecure
check_printed "and the message says so" "tcp://127.0.0.1:9: cannot be reached: nobody listens there"
check_status 1 "a host without an address" timeout 60 poolscope-stats cascade -p "$pool" \
	--connect tcp://no.such.host.invalid:9 --insecure
check_printed "and the message says so" "cannot be reached: .*the address is wrong"
check "all of it at once" test $((($(date +%s%N) - began) / 1000000)) -lt $((4000 * SLOW))
check_status 1 "a full disk" poolscope-dump -p "$pool" -o /dev/full
check_printed "and the message says so, too" "No space left"
