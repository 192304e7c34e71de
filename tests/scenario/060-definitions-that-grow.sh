#!/bin/sh
# Agents of two versions in one pool.  Those of n1 know two columns of group cpu, the boot
# and the user time; those of n2 know the third, nice time, too.  n1 works for 1 s a second
# as a user (100 ticks), n2 for 0.5 s as a user and 0.25 s nicely, each from 0 to 5400 s:
# n1 5400 s, n2 4050 s.  Group app of both has a level, 3; n2's has a second column, 8.
#
# In pool first the old agent defines the groups first, and again behind the new one; in
# pool last the new one comes first.  The answers are the same in both: while the hours are
# open, after they are compacted, from rollups, and after a rebuild and a restart.
#
# n3 does what nobody may: another order of the columns, another unit, another kind, a name
# twice, a gauge that is the second column of cpu.  Each is refused, and changes nothing;
# the event of the same batch is stored.  It may add columns at the end of cpu, up to 4,096
# in all, and again changes nothing of n1 and n2.
#
# n4's samples of group late have two values, 5 and 6, while only the first column is
# defined.  They cannot be read, and are when the definition has grown: also those of an
# hour that was compacted before.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
BASE=1699999200 # a whole hour
. "$(dirname "$0")/lib.sh"

OLD="poolscope.boot:1:gauge system.cpu.time.user:cs:counter"
NEW="$OLD system.cpu.time.nice:cs:counter"
old() {
	echo "define n1 cpu $OLD"
	echo "define n1 app level:1:gauge"
}
new() {
	echo "define n2 cpu $NEW"
	echo "define n2 app level:1:gauge limit:{job}:gauge"
}
# samples FIRST LAST: of both nodes, every 2 s.
samples() {
	for t in $(seq "$1" 2 "$2"); do
		echo "sample $t n1 cpu 7 $((t * 100))"
		echo "sample $t n2 cpu 8 $((t * 50)) $((t * 25))"
		echo "sample $t n1 app 3"
		echo "sample $t n2 app 3 8"
	done
}

# cpu: seconds of work of each node.
cpu() {
	poolscope-stats usage --format csv >"$TMP/use.csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["node"] in ("n1", "n2"):
        print(row["node"], round(float(row["cpu_hours_used"]) * 3600, 6))' "$TMP/use.csv"
}
# values METRIC: the values in a picture of it, without repetitions.
values() {
	rm -rf "$TMP/plot"
	poolscope-plot samples -m "$1" --no-png --step 10m --from "$(at 0)" --to "$(at 7400)" \
		-o "$TMP/plot" >"$TMP/log" 2>&1 || return
	awk '/^[0-9]/ { print $2 }' "$TMP"/plot/*.dat | sort -n | uniq | xargs
}
answers() {
	for POOLSCOPE_PARTITION in 'acct$first' 'acct$last'; do
		_pool=${POOLSCOPE_PARTITION#*\$}
		answer "$1, old $_pool: the work of both" "n1 5400.0
n2 4050.0" cpu
		answer "$1, old $_pool: the column of both" 3 values level
		answer "$1, old $_pool: the column of one" 8 values limit
	done
}

# shellcheck disable=SC2119 # no options
aggregate
PARTITION='acct$first'
{ old && new && old && samples 0 5400; } | records
PARTITION='acct$last'
{ new && old && samples 0 2800; } | records
{ old && samples 2800 5400; } | records
answers "open hours"

PARTITION='acct$first'
check "n3 defines groups in its own way" records <<END
	define n3 cpu poolscope.boot:1:gauge system.cpu.time.nice:cs:counter system.cpu.time.user:cs:counter
	define n3 app level:%:gauge
	define n3 app level:1:counter
	define n3 app level:1:gauge limit:{job}:gauge level:1:gauge
	define n3 disk/sda poolscope.boot:1:gauge my.own:1:gauge
	event 5 n3 test:survived
END
cat >"$TMP/wanted" <<'END'
metric group app: column 1, level, has the unit "%", but is defined with "1"
metric group app: column 1, level, is a counter, but is defined as a gauge
metric group app: two columns are called level
metric group cpu: column 2 is system.cpu.time.nice, but is defined as system.cpu.time.user: columns can only be added at the end
metric group disk/sda: column 2 is my.own, but is defined as system.disk.io.read: columns can only be added at the end
END
# reasons: those of the rejected batches.
reasons() {
	poolscope-dump --kind rejected --format jsonl -p 'acct$first' |
		/usr/bin/python3 -c 'import json, sys
print(*sorted(json.loads(line)["reason"] for line in sys.stdin), sep="\n")'
}
answer "each is kept, with what is wrong" "$(cat "$TMP/wanted")" reasons
answer "the rest of the batch is stored" "n3" columns node poolscope-dump --kind event --format csv -p 'acct$first'
check_status 3 "status counts them" poolscope-stats status
check_printed "... and says where they are" "5 refused definitions of metric groups, among the rejected batches"
check_text "each group is logged once" 3 "$(grep -c "refused a definition from node story" "$TMP/aggregator.log")"
/usr/bin/python3 - >"$TMP/wide" <<'END'
import re
source = open("proto/metric/metric_groups.def").read()
body = re.search(r"^GROUP\(cpu, .*?^END", source, re.S | re.M).group(0)
own = ["poolscope.boot:1:gauge"] + ["%s:%s:%s" % (n, u, c.lower())
                                    for c, n, u in re.findall(r'^(COUNTER|GAUGE)\(\w+, "([^"]*)", "([^"]*)"\)', body, re.M)]
print("define n3 cpu", *own, *("own.%d:1:counter" % i for i in range(4096 - len(own))))
print("define n3 cpu", *own, *("own.%d:1:counter" % i for i in range(4097 - len(own))))
END
records <"$TMP/wide"
answer "one more is refused" "metric group cpu: 4097 columns are more than 4096, the limit of a sample" sh -c \
	"poolscope-dump --kind rejected --format jsonl -p 'acct\$first' --name '*4097*' |
	/usr/bin/python3 -c 'import json, sys; print(json.loads(sys.stdin.read())[\"reason\"])'"
answers "after all that"

PARTITION='acct$first'
{
	echo "define n4 late one:1:gauge"
	for t in $(seq 0 2 7300); do echo "sample $t n4 late 5 6"; done
} | records
check_status 1 "a sample with more values than columns is not read" \
	poolscope-plot samples -m one --from "$(at 0)" --to "$(at 7400)" --no-png -o "$TMP/plot" -p 'acct$first'
answers "with them"
stop aggregator
answers "from the store"
check "the hours are compacted" poolscope-admin compact
answers "compacted"
check "what is derived is rebuilt" poolscope-admin rebuild
# shellcheck disable=SC2119 # no options
aggregate
answers "rebuilt"
echo "define n4 late one:1:gauge two:1:gauge" | records
POOLSCOPE_PARTITION='acct$first'
answer "the rest of the definition has come: the first value" 5 values one
answer "... and the second" 6 values two
