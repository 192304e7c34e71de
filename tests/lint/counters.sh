# Counters come from one table: the manual pages, the metrics and the page have no others.
set -eu
python3 tests/lint/counters.py --check
