#!/bin/sh
# Every block of poolscope-numbers(7) runs as it stands, and each way brings the same number
# with the same label into the store, in the group that the page names.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
sanitize=
[ "${VARIANT:-release}" != asan ] || sanitize=-fsanitize=address,undefined
page=$ROOT/deploy/poolscope-numbers.7
export POOLSCOPE_PARTITION="$pool" POOLSCOPE_TEXTFILE_PERIOD=1s POOLSCOPE_PERIOD=1s

# The library as users have it, for $(pkg-config).
mkdir -p "$TMP/pc"
sed -e "s|@[A-Z]*INC[A-Z]*@|$ROOT/agents/client|; s|@[A-Z]*LIB[A-Z]*@|$B|; s|@[A-Z]*PREFIX@|$TMP|; s|@VERSION@|0|" \
	"$ROOT/agents/client/poolscope.pc.in" >"$TMP/pc/poolscope.pc"
ln -s "$B/libpoolscope.so" "$TMP/pc/libpoolscope.so.0"
export PKG_CONFIG_PATH="$TMP/pc" LD_LIBRARY_PATH="$TMP/pc"
# Each block is a file; ports are free ones, and /opt is here.
mkdir -p "$TMP/page" "$DIR/conf.d"
cd "$TMP/page" || exit 1
check "the blocks of the page" /usr/bin/python3 - "$page" "$TMP/page" <<'PY'
import re
import socket
import sys

KINDS = ("#include", "c"), ("import", "py"), ("from", "exporter"), ("receiver {", "conf"), ("#!", "script")
text = open(sys.argv[1]).read().replace("/opt/", sys.argv[2] + "/").replace("\\e", "\\")
held = []
for port in sorted(set(re.findall(r"127\.0\.0\.1[:, \"]+(\d+)", text))):
    held.append(socket.create_server(("127.0.0.1", 0)))
    text = re.sub(r"\b%s\b" % port, str(held[-1].getsockname()[1]), text)
blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)
for number, block in enumerate(blocks):
    kind = [kind for begin, kind in KINDS if block.startswith(begin)] or ["sh"]
    with open("%02d.%s" % (number, kind[0]), "w") as file:
        file.write(block)
assert len(blocks) >= 15, blocks
PY
cp ./*.conf "$DIR/conf.d"
# Nobody runs the script.
chmod 711 "$TMP"
[ "$(id -u)" = 0 ] || sed -i 's/user = "nobody"//' "$DIR"/conf.d/*
for block in *.script; do
	mv "$block" queue.sh && chmod +x queue.sh
done
for block in *.exporter; do
	py "$block" &
	exporter=$!
done
# The line that starts all.
check "the instance" sh -c "$(sed -n 's/^\.Dl \(poolscope up.*\)/\1/p' "$page")" || exit 1

# The last block looks at the numbers.
for block in *.c *.py *.sh; do
	case $block in
	*.c)
		check "$block: is built" sh -c "cp $block queue.c && $(sed -n 's/^\.Ql \(cc .*)\) :$/\1/p' "$page") $sanitize -o queue"
		check "$block: runs" ./queue
		;;
	*.py) check "$block: runs" py "$block" ;;
	queue.sh) ;;
	*) grep -q 'poolscope plot' "$block" || check "$block: runs" sh -eu "$block" ;;
	esac
done

# numbers: GROUP NAME LABELS VALUE of each number, the digits of a group left out.
numbers() {
	poolscope-dump -q --kind sample --kind entity --format jsonl | /usr/bin/python3 -c '
import json, re, sys
records = [json.loads(line) for line in sys.stdin]
sets = {r["id"]: r["properties"] for r in records if r["kind"] == "entity" and r["entity"] == "set"}
found = set()
for r in records:
    if r["kind"] == "sample":
        of = sets[r["set"]]
        for name, value in zip(of["names"].split(), r["values"]):
            if name == "queue_length":
                found.add("%s %s %g" % (re.sub("/[0-9a-f]{12}$", "", r["set"]), of.get("labels", "{}"), float(value)))
print(*sorted(found), sep="\n")'
}
cat >"$TMP/wanted" <<'END'
app/01.py {"rank":"3"} 17
app/02.py {} 17
app/queue {"rank":"3"} 17
emit {"rank":"3"} 17
otlp/jobs {"rank":"3","service.name":"jobs"} 17
prom/jobs {"job":"jobs","rank":"3"} 17
prom/queue {"rank":"3"} 17
prom/textfile {"rank":"3"} 17
statsd {"rank":"3"} 17
END
arrived() {
	numbers | cmp -s - "$TMP/wanted"
}
wait_until arrived 60
check_text "each way brings the number, with its label" "$(cat "$TMP/wanted")" "$(numbers)"
check "the last block shows them" sh -eu "$(grep -l 'poolscope plot' ./*.sh)"
poolscope down
kill "$exporter"
