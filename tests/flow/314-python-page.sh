#!/bin/sh
# Every block of Python in poolscope-python(7) and in README.md runs as it stands; those
# that read a store run in 288 and parts/225.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
start_pool

check "the blocks of the pages" /usr/bin/python3 - "$TMP" "$ROOT/agents/python/poolscope-python.7" "$ROOT/README.md" <<'PY'
import re
import sys

written = 0
for path in sys.argv[2:]:
    text = open(path).read()
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S) + re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    for block in blocks:
        if block.startswith(("import ", "from ")) and "Store" not in block:
            written += 1
            with open("%s/block%02d.py" % (sys.argv[1], written), "w") as program:
                program.write(block.replace("\\e", "\\").replace("\\&", ""))
assert written >= 5, written
# Ten lines to the first span, and to the first data frame.
page = open(sys.argv[2]).read()
for begin in "The first span:", "The first data frame:":
    block = re.search(r"^%s\n\.Bd -literal.*?\n(.*?)^\.Ed" % begin, page, re.M | re.S)[1]
    assert 0 < len([line for line in block.splitlines() if line]) <= 10, block
PY
export POOLSCOPE_PARTITION="$pool"
for block in "$TMP"/block*.py; do
	check "$(sed -n '/^$/d; /^import\|^from/d; p; /./q' "$block" | head -1)" py "$block"
	check_text "... without a word on standard error" "" "$(cat "$TMP/err")"
done
settle
check_text "the first spans are stored" "10 load step
10 step None" "$(stored span 'r["name"], parent(r)' '"block01" in r["track"]' | sort | uniq -c | sed 's/^ *//')"
