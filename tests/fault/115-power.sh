# file systems that lose what was not synced: tests/fault/power.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 power.py
