#!/bin/sh
# poolscope-spool and poolscope-wire: the spool of a running agent and a
# copy of it, whole and damaged; frames of real sockets, whole and damaged.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

SEED=${SEED:-$(date +%s)}
echo "seed $SEED"
spool=$DIR/spool
py() {
	_script=$1
	shift
	/usr/bin/python3 -c "import json, sys
$_script" "$@"
}
# state of the directory: every byte, every time
state_of() {
	(cd "$1" && find . -type f | sort | xargs sha256sum && find . -printf '%p %T@ %m\n' | sort)
}
# lines FILE: records as they are in the spool and in the store
lines() {
	py '
for line in open(sys.argv[1]):
    r = json.loads(line)
    r["receive_ns"] = 0
    if r["kind"] in ("event", "span"):
        print(json.dumps(r))' "$1" | sort
}
capture() {
	start "$1" "$ROOT/tests/flow/capture.py" "ipc://$DIR/run/$1.ipc" "ipc://$DIR/run/$2.ipc" "$TMP/$1.frames"
}
agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/uplink.ipc" \
		-p 'acct$look' -n node1 --spool-bytes 512KiB "$@"
}

start aggregator poolscope-aggregator || exit 1
capture uplink intake || exit 1
capture query reader || exit 1
check "an agent" agent
seq 1 300 | sed 's/^/test look /' | poolscope-emit --stdin --wait stored --timeout 60s

# ---- while the agent runs
check "its spool is listed" poolscope-spool ls "$spool"
check_printed "... with the count of starts" ", starts of the agent: 1\$"
check_printed "... the segment that it appends to" " open\$"
check_printed "... and the partition" '^acct$look '
check "... as JSON" poolscope-spool ls "$spool" --format json
cp "$TMP/out" "$TMP/ls.json"
check_text "that has what is acknowledged, the session, and no hole" "True 32 0 []" "$(py '
answer = json.load(open(sys.argv[1]))
p = answer["streams"][0]
print(p["acknowledged"] <= p["last"] and p["records"] == 300, len(p["session"]), p["missing"], answer["missing"])' "$TMP/ls.json")"
poolscope-dump -p 'acct$look' --format jsonl >"$TMP/dump"
check "its records are printed" poolscope-spool cat "$spool" -n node1
cp "$TMP/out" "$TMP/cat"
lines "$TMP/dump" >"$TMP/wanted"
lines "$TMP/cat" >"$TMP/got"
check "... as poolscope-dump prints them" cmp "$TMP/wanted" "$TMP/got"
check_text "... all of them" 300 "$(wc -l <"$TMP/got")"
check "no other partition is" poolscope-spool cat "$spool" -p 'other*'
check_text "... printed" "" "$(cat "$TMP/out")"
check "verify finds nothing" poolscope-spool verify "$spool"
check_printed "... and says so" "frames: ok"

# ---- while it sends: segments come, and go when they are acknowledged
seq 1 4000 | sed 's/^/test busy /' | poolscope-emit --stdin --timeout 60s &
emit=$!
rounds=0
while kill -0 $emit 2>/dev/null; do
	poolscope-spool verify --log error "$spool" >"$TMP/busy" 2>&1 || break
	poolscope-spool ls "$spool" >/dev/null 2>>"$TMP/busy" || break
	rounds=$((rounds + 1))
done
wait $emit
check_text "a spool that is written to has no errors" "" "$(cat "$TMP/busy")"
check "... however often it is looked at" test "$rounds" -gt 0
stop agent

# ---- one that nobody has open
check "it is as good afterwards" poolscope-spool verify "$spool"
stop uplink
check "an agent whose broker is gone" agent
for first in 1 251; do
	seq $first $((first + 249)) | sed 's/^/test kept /' | poolscope-emit --stdin --timeout 60s
done
stop agent KILL
state_of "$spool" >"$TMP/before"
check "what it has is not acknowledged" poolscope-spool cat -u "$spool"
check_text "... and is printed" 500 "$(grep -c '"kept"' "$TMP/out")"
check "verify" poolscope-spool verify "$spool"
check "ls" poolscope-spool ls "$spool"
state_of "$spool" >"$TMP/after"
check "... and it is as it was" cmp "$TMP/before" "$TMP/after"

# ---- damaged on purpose, in a copy
cp -r "$spool" "$TMP/copy"
check "a copy is read" poolscope-spool verify "$TMP/copy"
# As an agent leaves it that is killed while it creates a segment.
truncate -s 65536 "$TMP/copy/00000000000000001000.seg"
check "... and one whose newest segment has no header yet" poolscope-spool verify "$TMP/copy"
check "... which ls says" poolscope-spool ls "$TMP/copy"
check_printed "... in its state" empty
rm "$TMP/copy/00000000000000001000.seg"
# One bit of the body of the first batch that is not acknowledged, of the second start.
place=$(poolscope-spool ls "$spool" --format json | py '
import glob, struct
stream = json.load(sys.stdin)["streams"][-1]
number = stream["acknowledged"] + 1
for path in sorted(glob.glob(sys.argv[1] + "/*.seg")):
    data = bytearray(open(path, "rb").read())
    at = 576
    while data[8:24].hex() == stream["session"] and data[at:at + 4] == b"PSFR":
        if data[at + 12] == 1 and struct.unpack_from("<Q", data, at + 16)[0] == number:
            data[at + 60] ^= 1
            open(path, "wb").write(data)
            print(int(path[-24:-4]), at, number)
            sys.exit()
        at += 56 + (struct.unpack_from("<I", data, at + 4)[0] + 7) // 8 * 8' "$TMP/copy")
segment=${place%% *}
number=${place##* }
offset=${place#* }
offset=${offset% *}
check_status 3 "a flipped bit is found" poolscope-spool verify "$TMP/copy"
check_printed "... at its offset" "segment $segment, offset $offset: [0-9]* bytes hold no valid frame"
check_printed "... and what it costs" "partition '*acct.look'*: batches $number to $number are missing"
check_printed "... counted" "$TMP/copy: 2 errors"
check_status 1 "cat goes on behind it" poolscope-spool cat "$TMP/copy"
check_printed "... and says where" "segment $segment, offset $offset:"
check "... without the rest" test "$(grep -c '"kept"' "$TMP/out")" -gt 0
check "ls shows it" poolscope-spool ls "$TMP/copy"
check_printed "... as damaged" " damaged\$"
# What cannot be read is not known: a file of noise, and one that cannot be opened.
printf %1000s x >"$TMP/copy/00000000000000001000.seg"
ln -s /dev/null "$TMP/copy/00000000000000001001.seg"
rm "$TMP/copy/ACKED"
check "without ACKED segments are listed" poolscope-spool ls "$TMP/copy"
check_printed "... with the partition, which they name" '^acct$look '
check "... also those that cannot be read" poolscope-spool ls "$TMP/copy" --format json
check_text "... and nothing of it is 0 that nobody knows" "\
1000 unreadable 1000 None None None None
1001 unreadable None None None None None
[None]
False None []" "$(py '
answer = json.load(sys.stdin)
for row in answer["rows"][-2:]:
    print(*(row[key] for key in ("number", "state", "bytes", "used_bytes", "batches", "records", "session")))
print([*{row["acknowledged"] for row in answer["streams"]}])
print(answer["acked"], answer["starts"], answer["notes"])' <"$TMP/out")"
rm "$TMP/copy/00000000000000001000.seg" "$TMP/copy/00000000000000001001.seg"
check_status 1 "another directory is no spool" poolscope-spool ls "$TMP/i/run"
check_printed "... and the message says so" "$TMP/i/run: not a spool: it has no ACKED and no segment\$"
check_status 1 "nor is one that is not there" poolscope-spool verify "$TMP/none"
check_printed "... by name" "^poolscope-spool: $TMP/none: No such file or directory\$"
wrong_usage "an option of another verb is refused" "--format is for ls, not for verify" \
	poolscope-spool verify "$spool" --format json

# ---- frames of the agent's socket
check "frames are decoded" poolscope-wire decode "$TMP/uplink.frames"
for type in hello welcome batch ack; do
	check_printed "... a $type" "^offset [0-9]*: $type, [0-9]* bytes\$"
done
check "... from a pipe" sh -c 'cat "$1" | poolscope-wire decode --format json' x "$TMP/uplink.frames"
cp "$TMP/out" "$TMP/frames.json"
check_text "with every record that was sent, each at its offset" "300 4000 True" "$(py '
import os
frames = [json.loads(line) for line in open(sys.argv[1])]
seen = {(r["session"], r["seq"], r["index"]): r for f in frames for r in f.get("body", [])}
names = [r["name"] for r in seen.values() if r["kind"] == "event"]
end = 0
for f in frames:
    assert f["offset"] == end, f
    end += f["bytes"]
print(names.count("look"), names.count("busy"), end == os.path.getsize(sys.argv[2]))' \
	"$TMP/frames.json" "$TMP/uplink.frames")"

# ---- of a reader's
poolscope-dump -p 'acct$look' --format jsonl --name test:look \
	--connect "ipc://$DIR/run/query.ipc" >"$TMP/dump"
check "questions and answers are decoded" poolscope-wire decode --format json "$TMP/query.frames"
cp "$TMP/out" "$TMP/frames.json"
check_text "the pages have what the reader got" "True select page" "$(py '
frames = [json.loads(line) for line in open(sys.argv[1])]
pages = [json.dumps(dict(r, partition="")) for f in frames for r in f.get("body", [])]
got = [json.dumps(dict(json.loads(line), partition="")) for line in open(sys.argv[2])]
types = {f["type"] for f in frames}
print(sorted(pages) == sorted(got) and len(got) == 300, *sorted(types & {"select", "page"}, reverse=True))' \
	"$TMP/frames.json" "$TMP/dump")"

# ---- damaged
size=$(wc -c <"$TMP/uplink.frames")
head -c $((size - 5)) "$TMP/uplink.frames" >"$TMP/cut.frames"
check_status 1 "a frame that is cut is an error" poolscope-wire decode "$TMP/cut.frames"
check_printed "... with its offset" "$TMP/cut.frames: offset [0-9]*: the input ends within the frame\$"
py '
data = bytearray(open(sys.argv[1], "rb").read())
data[40] ^= 1
open(sys.argv[2], "wb").write(data)' "$TMP/uplink.frames" "$TMP/bad.frames"
check_status 1 "a damaged one, too" poolscope-wire decode "$TMP/bad.frames"
check_printed "... with its offset" "$TMP/bad.frames: offset 0: the checksum of the frame is wrong\$"
check_printed "... and the next ones are decoded" "^offset [1-9][0-9]*: welcome, "
head -c 100000 /dev/urandom >"$TMP/noise"
check_status 1 "noise is no frame" poolscope-wire decode "$TMP/noise"
check_printed "... from its first byte on" "$TMP/noise: offset 0: no frame begins here"
check "nothing is no frame and no error" poolscope-wire decode /dev/null
check_status 1 "a file that is not there is an error" poolscope-wire decode "$TMP/none"
wrong_usage "a verb is needed" "' is not one of decode" poolscope-wire "$TMP/noise"
