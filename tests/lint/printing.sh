# Functions that print by hand are not to become more: printing.py, with printing.txt.
set -eu
command -v ctags >/dev/null || { echo "SKIPPED printing: no ctags"; exit 0; }
exec python3 tests/lint/printing.py
