# a network that loses, repeats, changes, delays and resets: network.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 network.py
