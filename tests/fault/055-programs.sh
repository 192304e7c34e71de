# The n-th operation of the disk fails, and the n-th allocation, in whole
# programs: tests/fault/programs.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 programs.py
