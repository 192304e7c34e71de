# a thousand agents for a minute: tests/fault/soak.py.
# What AddressSanitizer keeps of freed memory is not the program's.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=8"
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 soak.py
