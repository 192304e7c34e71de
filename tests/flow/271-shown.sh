#!/bin/sh
# Names with control, invisible and reordering characters: tables, and whatever
# goes to a terminal, show them as "?"; CSV and JSON in a file have the name.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
check "an aggregator" start aggregator poolscope-aggregator
check "a broker" start broker poolscope-broker
/usr/bin/python3 - >"$TMP/rows" <<'END_PY'
import json
name = "\u202eevil\u2066\u2028\u200b\ufeffnode"
base = {"partition": "a$b", "node": name, "session": "07" * 16, "seq": 1, "receive_ns": 1795850295246285564}
for i, (kind, more) in enumerate([
        ("event", {"time_ns": 1795850000000000000, "source": "nodeprep", "name": "start", "uuid": None,
                   "attributes": {"message": "\x1b[31m\x07\u009b2J"}}),
        ("event", {"time_ns": 1795850001000000000, "source": "nodeprep", "name": "end", "uuid": None, "attributes": {}}),
        ("span", {"begin_ns": 1795850000000000000, "end_ns": 1795850001000000000, "track": name, "name": name,
                  "category": "", "attributes": {}})]):
    print(json.dumps({"kind": kind, "index": i, **base, **more}))
END_PY
check "records with such names are stored" poolscope-import -q records "$TMP/rows"
wait_until indexed

# clean FILE: nothing in it but what a terminal shows.
cat >"$TMP/clean.py" <<'END_PY'
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode()
bad = sorted({hex(ord(c)) for c in text if c not in "\r\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Mn", "Me", "Co", "Cs")})
sys.exit(" ".join(bad) or 0)
END_PY
# screen COMMAND...: what it prints on a terminal.
screen() {
	/usr/bin/python3 -c '
import os, pty, sys
out = open(sys.argv[1], "wb")
def read(fd):
    data = os.read(fd, 4096)
    out.write(data)
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[2:], read)))' "$TMP/screen" "$@" </dev/null
}
for command in "stats nodes" "stats spans" "stats phases --by node" "stats breakdown" "stats cascade"; do
	# shellcheck disable=SC2086 # words
	poolscope $command -q -p 'a$b' >"$TMP/table" 2>&1
	check "$command: the table has no such character" /usr/bin/python3 "$TMP/clean.py" "$TMP/table"
done
poolscope stats nodes -q -p 'a$b' >"$TMP/table"
check "the others of the name are there" grep -q '?evil????node' "$TMP/table"
for format in csv jsonl; do
	check "dump --format $format on a terminal" screen poolscope-dump -q -p 'a$b' --kind event --format $format
	check "... shows none" /usr/bin/python3 "$TMP/clean.py" "$TMP/screen"
	check "... but the rest of the name" grep -q evil "$TMP/screen"
done
wanted=$(/usr/bin/python3 -c 'print("\u202eevil\u2066\u2028\u200b\ufeffnode")')
poolscope-dump -q -p 'a$b' --kind event --format csv >"$TMP/csv"
check "CSV in a file has the name" grep -q "$wanted" "$TMP/csv"
poolscope-dump -q -p 'a$b' --kind event --format jsonl >"$TMP/jsonl"
check_text "and JSON" "$wanted" "$(/usr/bin/python3 -c '
import json, sys
print(json.loads(open(sys.argv[1]).readline())["node"])' "$TMP/jsonl")"
check_status 1 "a message about such a name" poolscope stats nodes -q -p "$(printf 'x\302\2332J$\342\200\256y')"
check "... has none" /usr/bin/python3 "$TMP/clean.py" "$TMP/err"
printf '[agent]\nperiod = \302\2332J\342\200\256x\n' >"$TMP/config"
poolscope-agent --config "$TMP/config" >"$TMP/err" 2>&1
check "a line of the configuration in a message has none" /usr/bin/python3 "$TMP/clean.py" "$TMP/err"
stop broker
stop aggregator
