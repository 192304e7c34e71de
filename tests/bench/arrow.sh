# arrow - samples as Arrow and as CSV, of the same store: rows a second of processor
# time, peak memory, bytes a row.
#
#   ROWS=2000000 sh tests/bench/arrow.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
PARTITION='acct$many'
# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'import sys
print("group n1 room", *["m%d:1:gauge" % i for i in range(50)])
for t in range(int(sys.argv[1]) // 50):
    print("sample", t, "n%d" % (t // 4000), "room", *[t * i + .5 for i in range(50)])
    if t % 200 == 0:
        print("----")' "${ROWS:-2000000}" | records
for _ in 1 2 3; do
	for format in long arrow; do
		/usr/bin/python3 -c 'import os, resource, subprocess, sys
rows, path, name = int(sys.argv[1]), sys.argv[2], sys.argv[3]
subprocess.run(sys.argv[4:], check=True, stdout=open(path, "wb"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
print("%-6s %.2f M rows/s of CPU, %d KiB, %.1f bytes a row" % (
    name, rows / seconds / 1e6, used.ru_maxrss, os.path.getsize(path) / rows))' \
			"${ROWS:-2000000}" "$TMP/out.$format" $format poolscope-dump -q -p 'acct$many' \
			--kind sample --format $format --store "$DIR/store"
	done
done
