# One timeline of nodes in network namespaces of their own: namespaces.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 namespaces.py
