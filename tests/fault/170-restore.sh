# Stores restored from backups, spools copied and put back: tests/fault/restore.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 restore.py
