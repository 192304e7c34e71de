# reports - the eighteen numbers of 200 nodes with 1,000 reports each, from the
# store, next to the same sums in Python with all reports in its memory; and
# what becomes of them on the way in and out.
#
#   NODES=20 REPORTS=100 RUNS=3 sh tests/bench/reports.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # the $ is a partition's
. "$(dirname "$0")/lib.sh"
nodes=${NODES:-200}
reports=${REPORTS:-1000}

# Percentages with one decimal, totals that grow by whole sectors and bytes.
/usr/bin/python3 - "$nodes" "$reports" "$TMP/reports.json" <<'PYTHON'
import json, random, sys
nodes, reports = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
KEYS = ('disk_io_read_mb', 'disk_io_write_mb', 'net_io_lo_sent_mb',
        'net_io_ext_sent_mb', 'net_io_lo_recv_mb', 'net_io_ext_recv_mb')
def one_node(node):
    totals = [random.randrange(1 << 34) for _ in KEYS]
    for i in range(reports):
        cpus = [round(random.random() * 100, 1) for _ in range(8)]
        for k in range(len(totals)):
            totals[k] += random.randrange(1 << 22)
        yield dict({'cpu_pct_per_cpu_avg': sum(cpus) / 8,
                    'cpu_pct_per_cpu_min': min(cpus),
                    'cpu_pct_per_cpu_max': max(cpus),
                    'mem_percent': round(random.random() * 100, 1),
                    'disk_usage_percent': 30.1},
                   **{k: v / 2**20 for k, v in zip(KEYS, totals)},
                   timestamp=1650000000 + i + random.random() / 100)
with open(sys.argv[3], 'w') as file:
    file.write('{"nodes":[')
    for node in range(nodes):
        file.write(',' if node else '')
        json.dump({'node': node, 'reports': list(one_node(node))}, file)
    file.write(']}')
PYTHON

poolscope up >/dev/null
bytes=$(wc -c <"$TMP/reports.json")
echo "$nodes nodes, $reports reports each, $((bytes >> 20)) MiB of JSON, best of $RUNS"
RUNS=1 measure "import, acknowledged after fsync" poolscope-import -q -p 'a$b' perf "$TMP/reports.json"
wait_indexed
measure "node metrics, aggregator" poolscope-stats perf --format json -q -p 'a$b' --cpu-count 8 -o "$TMP/a"
measure "  saved as the older sampler does" poolscope-stats perf --format json -q -p 'a$b' --cpu-count 8 --save "$TMP/saved" -o "$TMP/a"
measure "  decimated its way to 100 a node" poolscope-stats perf --format json -q -p 'a$b' --cpu-count 8 --decimate reference --max-length 100 -o "$TMP/b"
poolscope down
measure "node metrics, store (mapped)" poolscope-stats perf --format json -q -p 'a$b' --store "$TMP/i/store" --cpu-count 8 -o "$TMP/a"
poolscope-admin compact -q
measure "node metrics, store (mapped), compacted" poolscope-stats perf --format json -q -p 'a$b' --store "$TMP/i/store" --cpu-count 8 -o "$TMP/b"
cmp "$TMP/a" "$TMP/b"
/usr/bin/python3 - "$TMP/reports.json" "$RUNS" <<'PYTHON'
import json, resource, sys, time
with open(sys.argv[1]) as file:
    nodes = [n['reports'] for n in json.load(file)['nodes']]
best = 9e9
for _ in range(int(sys.argv[2])):
    began = time.monotonic()
    for r in nodes:
        u = [x['cpu_pct_per_cpu_avg'] for x in r]
        numbers = [max(u), sum(u) / len(u)]
        numbers += [sum(1 for x in u if x >= t) / len(u) * 100.0
                    for t in (100, 80, 40, 20)]
        numbers += [max(x[k] for x in r) for k in r[0] if k[:7] != 'cpu_avg']
    best = min(best, time.monotonic() - began)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f'{"Python, all reports in memory: sums only":<40}{best:8.3f} s wall{"":14}{peak:8.1f} MiB')
PYTHON
echo "goal: node metrics 0.03 s, 16 MiB; the older tool 0.11 s, 181 MiB"
