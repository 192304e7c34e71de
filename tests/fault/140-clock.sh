# clocks that are off, go at other rates and step: tests/fault/clocks.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 clocks.py
