#!/bin/sh
# poolscope-upload results: files from a directory into the store and then the
# archive, whatever is bad about them, in the way, or gone meanwhile.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell, or a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/web.sh
. "$ROOT/tests/flow/web.sh"
D=$TMP/data
A=$TMP/archive

# result NAME TEST START [WALLTIME]: a file of one entry.
result() {
	printf '{"name": "%s", "startTime": "%s", "entries": {"entry": [{"name": "e", "wallTime": %s}]}}' \
		"$2" "$3" "${4:-1.5}" >"$TMP/new" && mv "$TMP/new" "$D/$1"
}

upload() {
	poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' --timeout 30s "$@"
}

# rows: the results in the store, a line each.
rows() {
	wait_until indexed 30
	poolscope-results entities -p 'lab$bench' --format jsonl | grep -v '^{"poolscope"'
}

fresh() {
	rm -rf "$D" "$A"
	mkdir "$D" "$A"
}
mkdir "$D" "$A"

# ---- wrong usage
wrong_usage "no data directory is wrong usage" 'datadir is required' poolscope-upload results -a "$A" --target store
wrong_usage "no archive is wrong usage" 'archivedir is required' poolscope-upload results -d "$D" --target store
wrong_usage "a target that takes no results is wrong usage" 'does not accept results' \
	poolscope-upload results -d "$D" -a "$A" --target influx:http://127.0.0.1:1/
wrong_usage "what is shown does not stay" 'exclude each other' upload --watch --dry-run

# ---- without a broker
result one.json t 5
check_status 1 "without a broker it fails" upload --timeout 1s
check_printed "... and says who is missing" 'is the broker running'
check "... the file stays" test -e "$D/one.json"
poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' >"$TMP/waiting" 2>&1 &
waiting=$!
wait_until 'grep -q "waiting for" "$TMP/waiting"'
kill -INT "$waiting"
wait "$waiting"
check_text "one that waits is interrupted" 1 $?
check "... and says so" grep -q interrupted "$TMP/waiting"

start aggregator poolscope-aggregator
start broker poolscope-broker

# ---- directories
check_status 1 "a missing data directory is reported" upload -d "$TMP/none"
check_printed "... by its name" 'none: No such file'
check_status 1 "a missing archive is reported" upload -a "$TMP/none"
check_text "... once" 1 "$(grep -c 'none: No such file' "$TMP/err")"
check "... and the file stays" test -e "$D/one.json"
check_text "... and nothing is sent" "" "$(rows)"
check_status 1 "a directory is not its own archive" upload -a "$D"
check "what would be sent is shown" upload --dry-run
check_printed "... a line a file" 'store one.json: t, start_us 5000000, 1 entries'
check "... and the file stays" test -e "$D/one.json"
check_text "... and nothing is sent" "" "$(rows)"

# ---- the file, and what is in the way
check "a file is uploaded" upload
check_printed "... and counted" '^1 files, 1 entries, 0 bad files'
check_printed "... with where it is now" 'partition lab$bench$'
check "... and archived" test -e "$A/one.json"
cp "$A/one.json" "$D/one.json"
check "the same again is uploaded" upload
check "... and not stored twice in the archive" test ! -e "$D/one.json"
check_text "... where there is one" one.json "$(ls "$A")"
check_text "... nor in the store" 2 "$(rows | wc -l)"
result one.json t 6
tag=$(python3 -c 'import hashlib, sys
print(hashlib.blake2b(open(sys.argv[1], "rb").read(), digest_size=16).hexdigest()[:8])' "$D/one.json")
check "another file of the same name is uploaded" upload
check_text "... and archived next to the first one" "one.json one.json.$tag " "$(cd "$A" && printf '%s ' *)"
check "... which is as it was" grep -q '"startTime": "5"' "$A/one.json"
cp "$A/one.json.$tag" "$D/one.json"
check "that one again goes, too" upload
check_text "... without a third" 2 "$(find "$A" -type f | wc -l)"

# ---- bad files
fresh
echo '{"name": "half' >"$D/half.json"
printf '%s' '{"name": "t", "startTime": 7, "entries": {"entry": [{"name": "good", "wallTime": 2}, {"wallTime": 3}]}}' >"$D/some.json"
check_status 1 "a bad file is a failure" upload --strict
check_printed "... reported with its reason" 'half.json: not JSON: unexpected end at line 1\|half.json: not JSON: control'
check_printed "... as one with a bad entry is with --strict" 'some.json: entry 2: "name" is missing'
check_text "... and both stay" 2 "$(find "$D" -type f | wc -l)"
check_status 1 "a bad entry is reported" upload
check_printed "... with its reason" 'some.json: skipped 1 bad entries: entry 2: "name" is missing'
check "... and the file is archived" test -e "$A/some.json"
check "... with what is good" sh -c 'poolscope-results timings t good -p "lab\$bench" | grep -q "2"'
check "what may still be written is not put aside" upload --refuse
check_printed "... but left for another time" '1 files postponed'
check "... where it is" test -e "$D/half.json"
touch -d '1 hour ago' "$D/half.json"
check_status 1 "bad files can be put aside" upload --refuse
check_printed "... and the message says so" "1 bad files are in $D/refused"
check "... which is where they are then" test -e "$D/refused/half.json"
echo '{"name": "other' >"$D/half.json"
check_status 1 "another of that name, too" upload --refuse --settle 0s
check_text "... next to the first one" 2 "$(find "$D/refused" -type f | wc -l)"
check "then nothing is bad" upload
fresh
echo '{"name": "t", "startTime": 8, "entr' >"$D/late.json"
check_status 1 "a half-written file is bad as yet" upload
echo '{"name": "t", "startTime": 8, "entries": {}}' >"$D/late.json"
check "when it is whole it goes" upload
check "... to the archive" test -e "$A/late.json"

# ---- not settled
result young.json t 9
check "a young file waits" upload --settle 1h
check_printed "... for another time" '1 files postponed'
check "... where it is" test -e "$D/young.json"
touch -d '2 hours ago' "$D/young.json"
check "an old one goes" upload --settle 1h
check "... to the archive" test -e "$A/young.json"

# ---- large ones
fresh
python3 - "$D" <<'X'
import base64, json, os, sys
for name, blob in ('large', 'x' * 1000000), ('random', base64.b64encode(os.urandom(700000)).decode()):
    with open(os.path.join(sys.argv[1], name), 'w') as file:
        json.dump({'name': name, 'startTime': 10, 'entries': {'entry': [
            {'name': 'e', 'extras': {'blob': blob}}]}}, file)
with open(os.path.join(sys.argv[1], 'both'), 'w') as file:
    json.dump({'name': 'both', 'startTime': 10, 'entries': {'entry': [{'extras': {
        'blob': base64.b64encode(os.urandom(700000)).decode()}}]}}, file)
with open(os.path.join(sys.argv[1], 'huge'), 'w') as file:
    file.write(' ' * (1 << 20) + '{}')
X
check_status 1 "what is too large is a failure" upload
check_printed "... if it is larger than may be" 'huge: it is larger than 1048576 bytes'
check_printed "... or cannot be made smaller" 'random: it is larger than .* even compressed'
check_printed "... though a bad entry of it was reported before" 'both: it is larger than .* even compressed'
check "a large file that can be is archived" test -e "$A/large"
check_text "... and is in the store as it was" "$(sha256sum <"$A/large")" "$(
	poolscope-results test large 10000000 -p 'lab$bench' --format json |
		python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin)["rows"][0]["info"])' | sha256sum)"
check_text "... and nothing of the others" "" "$(poolscope-dump -q -p 'lab$bench' --kind entity --name 'result*' |
	grep '"test": "random"')"

# ---- files that vanish, and strangers
fresh
python3 - "$D" <<'X' &
import os, sys, time
end = time.time() + 3
while time.time() < end:
    for n in range(50):
        path = os.path.join(sys.argv[1], 'v%d' % n)
        with open(path, 'w') as file:
            file.write('{"name": "v", "startTime": %d, "entries": {}}' % n)
    for n in range(50):
        try:
            os.unlink(os.path.join(sys.argv[1], 'v%d' % n))
        except FileNotFoundError:
            pass
X
vanishing=$!
runs=0 bad=0
while kill -0 "$vanishing" 2>/dev/null; do
	upload -q >"$TMP/vanish" 2>&1 || bad=$((bad + 1))
	# Half-written ones are bad, as they should be.
	grep -v 'not JSON\|is empty\|bad files remain' "$TMP/vanish" >>"$TMP/vanished"
	runs=$((runs + 1))
done
wait "$vanishing"
check_text "files that vanish are no trouble" "" "$(cat "$TMP/vanished")"
check "... in many runs" test "$runs" -gt 3

# ---- an archive on another disk, which is full
if unshare -rm true 2>/dev/null; then
	fresh
	for i in 1 2 3 4 5 6; do
		result "f$i" "full" "$i"
		touch -d "@$((1000 + i))" "$D/f$i"
	done
	cat >"$TMP/full.sh" <<'X'
mount -t tmpfs -o size=64k tmpfs "$A" || exit 99
head -c 60000 /dev/zero >"$A/filler"
head -c 100000 /dev/zero >>"$A/filler" 2>/dev/null
poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' >"$TMP/full.out" 2>&1
echo $? >"$TMP/full.status"
ls -a "$A" >"$TMP/full.ls"
ls "$D" | wc -l >"$TMP/full.left"
rm "$A/filler"
poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' >"$TMP/again.out" 2>&1
echo $? >"$TMP/again.status"
(cd "$A" && ls -a && stat -c %Y f3 && cat f3) >"$TMP/again.ls"
ls "$D" | wc -l >"$TMP/again.left"
X
	export D A
	unshare -rm sh "$TMP/full.sh"
	check_text "a full archive is a failure" 1 "$(cat "$TMP/full.status")"
	check "... and the message says so" grep -q 'f1: cannot move it to .*: No space left on device' "$TMP/full.out"
	check "... and not for ever" grep -q 'three times in a row' "$TMP/full.out"
	check_text "... every file stays" 6 "$(cat "$TMP/full.left")"
	check_text "... and no part of one is there" ". .. filler" "$(tr '\n' ' ' <"$TMP/full.ls" | sed 's/ $//')"
	check_text "when there is room all of them go" 0 "$(cat "$TMP/again.status")"
	check_text "... from the one disk" 0 "$(cat "$TMP/again.left")"
	check_text "... to the other, with their times" ". .. f1 f2 f3 f4 f5 f6 1003" \
		"$(head -9 "$TMP/again.ls" | tr '\n' ' ' | sed 's/ $//')"
	check_text "... and are in the store once" 12 "$(rows | grep -c '"test": "full"')"
else
	echo "SKIPPED: a full disk: namespaces cannot be made here"
fi

# ---- another target, and what is remembered of it
fresh
echo '{"mutationResults": [{}, {}], "indexUpdates": 9}' >"$TMP/yes"
web_start cloud --status 200 --answer "$TMP/yes"
DATASTORE_EMULATOR_HOST=127.0.0.1:$(cat "$TMP/cloud.port")
export DATASTORE_EMULATOR_HOST
result cloud.json t 11
cp "$D/cloud.json" "$TMP/cloud.json"
check "a file goes to two targets" upload --target datastore:project
check "... and to the archive" test -e "$A/cloud.json"
check_text "... by one request to the one" 1 "$(web_sent cloud 'len(sent)')"
check "... and to the store" sh -c 'poolscope-results starts t -p "lab\$bench" | grep -q 11'
cp "$TMP/cloud.json" "$D/once-more.json"
wait_until indexed 30
check "what a target has is not sent again" upload --target datastore:project
check_text "... though the file is called differently" 1 "$(web_sent cloud 'len(sent)')"
check "... and is archived" test -e "$A/once-more.json"
check "another project is another target" sh -c 'mv "$1/once-more.json" "$2/" &&
	exec poolscope-upload results -d "$2" -a "$1" --target datastore:other -p "lab\$bench"' - "$A" "$D"
check_text "... that is asked" 2 "$(web_sent cloud 'len(sent)')"
web_start cloud2 --status 200 --answer "$TMP/yes"
DATASTORE_EMULATOR_HOST=127.0.0.1:$(cat "$TMP/cloud2.port")
mv "$A/once-more.json" "$D"
check "so is the same one elsewhere" upload --target datastore:project
check_text "... that is asked, too" 1 "$(web_sent cloud2 'len(sent)')"
DATASTORE_EMULATOR_HOST=127.0.0.1:$(cat "$TMP/cloud.port")
web_behaves cloud 'status 400 x3'
for i in 1 2 3 4; do
	result "no$i" t "$((20 + i))"
done
check_status 1 "a target that refuses is reported" upload --target datastore:project
check_printed "... with the file" 'no[1-4]: datastore:project: .*400'
check_printed "... and no more is tried after a while" 'datastore:project three times in a row'
check_text "... and all files stay" 4 "$(find "$D" -type f | wc -l)"
check "when it takes them they go" upload --target datastore:project
check_text "... all" 0 "$(find "$D" -type f | wc -l)"
yes="status 200 $(cat "$TMP/yes")"
web_behaves cloud "$yes" 'status 400' "$yes" 'status 400' "$yes" 'status 400'
for i in 1 2 3; do
	result "half$i" t "$((30 + i))"
done
check_status 1 "one of two targets refuses" upload --target datastore:project --target datastore:third
check_printed "... which is named" 'half1: datastore:third: .*400'
wait_until indexed 30
web_behaves cloud "$yes x3"
check "when that one takes them they go" upload --target datastore:project --target datastore:third
check_text "... to that one only" "3 True" \
	"$(web_sent cloud 'len(sent), all("/projects/third" in s["path"] for s in sent)' | tr -d '(),')"

# ---- very many bad ones
fresh
python3 - "$D" <<'X'
import os, sys
for n in range(65600):
    path = os.path.join(sys.argv[1], 'bad%05d' % n)
    open(path, 'w').close()
    os.utime(path, (1000, 1000))
X
result good.json t 40
check_status 1 "very many bad files are reported" upload
check_text "... each once" 65600 "$(cat "$TMP/out" "$TMP/err" | grep -c 'bad[0-9]*: it is empty')"
check "... and what is behind them is taken" test -e "$A/good.json"

# ---- staying
fresh
touch "$D/empty"
poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' --watch --settle 0 >"$TMP/watch" 2>&1 &
watch=$!
wait_until 'grep -q "empty: it is empty" "$TMP/watch"'
for i in 1 2 3; do
	result "w$i" watched "$i"
	check "a file that arrives is taken ($i)" wait_until 'test -e "$A/w$i"' 30
done
check_text "a bad one is reported once" 1 "$(grep -c 'empty: it is empty' "$TMP/watch")"
echo x >"$D/empty"
check "... and again when it was changed" wait_until 'grep -q "empty: not JSON" "$TMP/watch"' 30
stop broker
stop aggregator
start aggregator poolscope-aggregator
start broker poolscope-broker
result w4 watched 4
check "who stays outlives the daemons" wait_until 'test -e "$A/w4"' 60
kill -TERM "$watch"
wait "$watch"
check_text "... and TERM ends it, with 1 for what is bad" 1 $?
check_text "... with what arrived in the store" 8 "$(rows | grep -c '"test": "watched"')"
poolscope-upload results -d "$D" -a "$A" --target store -p 'lab$bench' --watch >"$TMP/moved" 2>&1 &
watch=$!
wait_until 'grep -q "not JSON" "$TMP/moved"'
mv "$D" "$TMP/elsewhere"
wait "$watch"
check_text "a directory that goes away is the end" 1 $?
check "... and the message says so" grep -q 'was moved away or removed' "$TMP/moved"

stop broker
stop aggregator

# ---- sessions
fresh
start aggregator poolscope-aggregator --store "$TMP/sparing" --sessions-per-hour 1
start broker poolscope-broker
for i in $(seq 40); do
	result "s$i" "sparing" "$i"
done
check "forty files are one session" upload
result more.json "sparing" 41
check_status 1 "another within the hour waits" upload --timeout 2s
check_printed "... and the message says why" 'busy for '
stop broker
stop aggregator
