# clock - how far the offset that an agent finds out is from the truth, over a
# link of 0.1 ms each way; see tests/bench/clock.py.
#
#   RUNS=10 sh tests/bench/clock.sh
cd "$(dirname "$0")/../.." || exit
B=${B:-build}
export B
PATH=$PWD/$B/bin:$PATH PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 tests/bench/clock.py
