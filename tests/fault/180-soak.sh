# a thousand agents for a minute: tests/fault/soak.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 soak.py
