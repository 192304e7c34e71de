# file systems that lose what was not synced: tests/fault/power.py.  In a mount
# namespace of its own: whoever copied the mounts meanwhile would keep a file
# system that was shut down.
cd "$(dirname "$0")" || exit 1
unshare -m true 2>/dev/null && set -- unshare -m
PYTHONDONTWRITEBYTECODE=1 exec "$@" /usr/bin/python3 power.py
