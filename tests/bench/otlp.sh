# Spans that come over OTLP/HTTP, until they are on the agent's disk: goal 200,000 a second.
# shellcheck shell=sh
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
# Much more than an aggregator takes at once.
POOLSCOPE_OTLP=24319 POOLSCOPE_SPOOL_BYTES=16GiB poolscope up --receiver >/dev/null
/usr/bin/python3 tests/bench/otlp.py 24319 "$TMP"
