#!/bin/sh
# Samples to VictoriaMetrics and to InfluxDB, once and as they come, and what
# both give back: every number that poolscope-dump has, at its time.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2015,SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "VictoriaMetrics and InfluxDB cannot be installed"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
# What line protocol has to escape.
pool='acct of=us,and$po ol'
node='node 1,a=b'

# shellcheck disable=SC2046 # numbers
set -- $(free_port 3)
victoria=http://127.0.0.1:$1
influx=http://127.0.0.1:$2
mkdir -p "$TMP/influx"
cat >"$TMP/influx.conf" <<END
reporting-disabled = true
bind-address = "127.0.0.1:$3"
[meta]
  dir = "$TMP/influx/meta"
[data]
  dir = "$TMP/influx/data"
  wal-dir = "$TMP/influx/wal"
[http]
  enabled = true
  bind-address = "127.0.0.1:$2"
  log-enabled = false
[monitor]
  store-enabled = false
END
serve victoria victoria-metrics "-storageDataPath=$TMP/victoria" "-httpListenAddr=127.0.0.1:$1" \
	-retentionPeriod=100y -search.latencyOffset=0s -memory.allowedBytes=256MB
serve influx influxd -config "$TMP/influx.conf"
answers "$victoria/health" victoria || exit 1
answers "$influx/ping" influx || exit 1
curl -s -o /dev/null --data-urlencode 'q=CREATE DATABASE pool' "$influx/query"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
start agent poolscope-agent --period 100ms -p "$pool" -n "$node" || exit 1

cat >"$TMP/judge.py" <<'END'
"""judge.py victoria|influx URL DUMP: is every number of the dump there, at its
time, and nothing else?"""
import json, math, subprocess, sys, urllib.parse, urllib.request
kind, url, dumped, sets = sys.argv[1], sys.argv[2], sys.argv[3], {}
for line in open(dumped + ".sets"):
    entity = json.loads(line)
    sets[entity["id"]] = entity["properties"]["names"].split()
wanted = {}
for line in open(dumped):
    s = json.loads(line)
    for name, value in zip(sets[s["set"]], s["values"]):
        if value is not None:
            when = s["time_ns"] // (1000000 if kind == "victoria" else 1)
            wanted.setdefault((s["set"], name, s["node"], s["partition"], when), []).append(value)
def get(path, **query):
    return urllib.request.urlopen(url + path + "?" + urllib.parse.urlencode(query)).read().decode()
got = {}
if kind == "victoria":
    get("/internal/force_flush")
    by_name = {"%s_%s" % (s, n): (s, n) for s in sets for n in sets[s]}
    for line in get("/api/v1/export", **{"match[]": '{__name__!=""}'}).splitlines():
        series = json.loads(line)
        m = series["metric"]
        for value, when in zip(series["values"], series["timestamps"]):
            got.setdefault((*by_name[m["__name__"]], m["node"], m["partition"], when), []).append(value)
else:
    for name in sets:
        answer = json.loads(get("/query", db="pool", epoch="ns", q='SELECT * FROM "%s"' % name))
        for series in answer["results"][0].get("series", []):
            for row in series["values"]:
                point = dict(zip(series["columns"], row))
                for column in sets[name]:
                    if point.get(column) is not None:
                        got.setdefault((name, column, point["node"], point["partition"],
                                        point["time"]), []).append(point[column])
def same(a, b):
    # Both keep floats, which is what a whole number is nearest to;
    # VictoriaMetrics keeps twelve digits of what is not whole.
    return float(a) == float(b) or kind == "victoria" and math.isclose(a, b, rel_tol=1e-11)
if set(wanted) != set(got):
    print(len(set(wanted) - set(got)), "missing,", len(set(got) - set(wanted)), "too many, such as",
          sorted(set(wanted) ^ set(got))[:3])
    sys.exit(1)
for key in wanted:
    # The same sent again may be there again, in the same millisecond.
    if not all(any(same(a, b) for b in got[key]) for a in wanted[key]) or \
            not all(any(same(a, b) for a in wanted[key]) for b in got[key]):
        sys.exit("%s: %s, not %s" % (key, got[key], wanted[key]))
print(sum(map(len, wanted.values())), "numbers")
if len(wanted) < 1000:
    sys.exit("too few to say anything")
END
# judged SERVICE: does it have what the store has?
judged() {
	poolscope-dump -p "$pool" --kind sample -q >"$TMP/dumped" &&
		poolscope-dump -p "$pool" --kind entity --name 'set:*' -q >"$TMP/dumped.sets" &&
		eval "/usr/bin/python3 '$TMP/judge.py' $1 \"\$$1\" '$TMP/dumped'"
}
# follow SERVICE PATH: as they come.
follow() {
	poolscope-upload samples -p "$pool" --target "influx:$(eval "echo \"\$$1\"")$2" --follow \
		>>"$TMP/to_$1.log" 2>&1 &
	echo $! >"$TMP/to_$1.pid"
	STARTED="$STARTED to_$1"
}

follow victoria /write
follow influx '/write?db=pool'
wait_until '[ "$(poolscope-dump -p "$pool" --kind sample -q | wc -l)" -gt 200 ]' 30
stop to_victoria KILL
stop to_influx KILL
follow victoria /write
follow influx '/write?db=pool'
wait_until '[ "$(poolscope-dump -p "$pool" --kind sample -q | wc -l)" -gt 400 ]' 30
stop agent
wait_until indexed
check "VictoriaMetrics has every number at its millisecond" wait_until "judged victoria >'$TMP/said' 2>&1" 20
cat "$TMP/said"
check "InfluxDB has every number at its nanosecond" wait_until "judged influx >'$TMP/said' 2>&1" 20
cat "$TMP/said"
stop to_victoria TERM
check_text "followers end with 0" 0 "$STATUS"
stop to_influx TERM
check_text "both of them" 0 "$STATUS"

check "all of it once more" poolscope-upload samples -p "$pool" \
	--target "influx:$victoria/write" --target "influx:$influx/write?db=pool"
check_printed "is as many samples as the store has" "^info .*: $(wc -l <"$TMP/dumped") samples sent to influx:$influx/write"
check "and changes nothing in InfluxDB" judged influx
check "nor what VictoriaMetrics has at any time" judged victoria
check_status 1 "a database that is not there" poolscope-upload samples -p "$pool" --target "influx:$influx/write?db=none"
check_printed "is reported in the service's words" 'answers 404: .*database not found'
stop broker
stop aggregator
