# disks that fill up: tests/fault/full.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 full.py
