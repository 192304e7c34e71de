# kill -9 at every system call of a short scenario: tests/fault/calls.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 calls.py
