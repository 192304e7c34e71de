# stopped and ended processes, exporters among them: tests/fault/stop.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 stop.py
