# kill -9 of every process at random points: tests/fault/kill.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 kill.py
