#!/bin/sh
# A byte of a batch flips on the disk while it waits in the spool of a running
# agent: that batch becomes a gap "damaged", the others arrive.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/lib.sh"

start agent poolscope-agent --no-samples --no-clock -p 'acct$pool' -n n1 || exit 1
for name in before flipped after; do
	check "$name is on disk" poolscope-emit -q s "$name"
done
python3 - "$DIR/spool" <<'END'
import glob, sys
for path in glob.glob(sys.argv[1] + "/*.seg"):
    data = bytearray(open(path, "rb").read())
    at = data.find(b"flipped")
    if at >= 0:
        data[at] ^= 4
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(data[at:at + 1])
END
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
dump() { poolscope-dump -q -p 'acct$pool' --kind "$1" --format jsonl; }
check "what was sent after it arrives" wait_until 'dump event | grep -q "\"name\": \"after\""' 30
check "there is one gap" wait_until '[ "$(dump gap | wc -l)" -eq 1 ]'
check "... of reason damaged" sh -c 'poolscope-dump -q -p "acct\$pool" --kind gap --format jsonl | grep -q "\"damaged\""'
check_text "the others are there" 2 "$(dump event | grep -c '"name": "\(before\|after\)"')"
check "the log says what was lost" grep -q 'of the spool cannot be read; reporting it as lost' "$TMP/agent.log"
