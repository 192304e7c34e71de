# many_samples - an aggregator with ROWS values of the pool $PARTITION, 50 a sample,
# after tests/scenario/lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
ROWS=${ROWS:-2000000}
# shellcheck disable=SC2119 # no options
aggregate
/usr/bin/python3 -c 'import sys
print("group n1 room", *["m%d:1:gauge" % i for i in range(50)])
for t in range(int(sys.argv[1]) // 50):
    print("sample", t, "n%d" % (t // 4000), "room", *[t * i + .5 for i in range(50)])
    if t % 200 == 0:
        print("----")' "$ROWS" | records
