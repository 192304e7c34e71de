# stopped and ended processes: tests/fault/stop.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 stop.py
