# A partition moves under load, and everybody is killed: tests/fault/moves.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 moves.py
