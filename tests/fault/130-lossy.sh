# lost and repeated messages: tests/fault/lossy.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 lossy.py
