#!/bin/sh
# File systems: their sizes are those that the system has; one that does not
# answer, one that something lies over, or over a directory above it, one of which
# only a file is mounted, keep nobody waiting and are not measured as another.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

# values GROUP METRIC: all of them, oldest first.
values() {
	poolscope-dump -q -p "$pool" --kind sample --name "$1" --format long | /usr/bin/python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if r["metric"] == sys.argv[1]:
        print(r["value"])' "$2"
}
count() {
	poolscope-dump -q -p "$pool" --kind sample --name "$1" | wc -l
}
groups() {
	poolscope-dump -q -p "$pool" --kind sample --name 'filesystem/*' --format wide |
		cut -d, -f4 | sed 1d | sort -u
}

# ---- the sizes
pool='a$sizes'
check "it starts" start agent poolscope-agent -p "$pool" -n n1 --no-clock --period 200ms \
	--send-interval 100ms --metric-groups filesystem=200ms
check "the root is sampled" wait_until 'count filesystem/ | grep -qv "^0$"' 30
stop agent
poolscope-dump -q -p "$pool" --kind sample --name 'filesystem/' --format long >"$TMP/root"
check_text "used, free and reserved are its limit, which the system has, too" "True True True True" "$(
	/usr/bin/python3 - "$TMP/root" <<'END'
import csv, os, sys
last = {}
for r in csv.DictReader(open(sys.argv[1])):
    last[r["metric"].replace("system.filesystem.", "")] = int(r["value"] or -1)
fs = os.statvfs("/")
print(last["usage.used"] + last["usage.free"] + last["usage.reserved"] == last["limit"],
      last["limit"] == fs.f_blocks * fs.f_frsize,
      last["usage.reserved"] == (fs.f_bfree - fs.f_bavail) * fs.f_frsize,
      fs.f_files == 0 or last["inodes.used"] + last["inodes.free"] == fs.f_files)
END
)"

# ---- mounts of our own
if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/fuse ] || ! unshare -m true 2>/dev/null; then
	echo "skipped: no namespaces or no /dev/fuse"
	exit 0
fi
cat >"$TMP/in.sh" <<'END'
cd "$TMP" || exit 1
mkdir -p parent/disk over
for each in parent/disk over above/disk bound; do
	name=$(echo "$each" | tr / -)
	dd if=/dev/zero of="$name.img" bs=1M count=16 2>/dev/null
	mkfs.ext4 -q "$name.img" || exit 1
	mkdir -p "$each"
	mount -o loop "$name.img" "$each" || exit 1
done
# The server of a network file system is gone; a disk lies below it.
mkfifo "$TMP/mounted"
/usr/bin/python3 "$ROOT/tests/flow/dead_mount.py" "$TMP/parent" "$TMP/mounted" "$TMP/end" 3>&- &
# A tmpfs over a disk.
mount -t tmpfs -o size=4m none over || exit 1
# A tmpfs over the directory above a disk: its path leads into the tmpfs.
mount -t tmpfs -o size=4m none above && mkdir above/disk || exit 1
# Only a file of a disk is left, as in a container.
echo 1 >bound/file
: >file
mount --bind bound/file file && umount bound || exit 1
timeout 60 cat "$TMP/mounted" || exit 1
exec poolscope-agent --ready-fd 3 -p 'a$hangs' -n n1 --no-clock --period 200ms --send-interval 100ms \
	--metric-groups cpu,filesystem=200ms
END
pool='a$hangs'
rm -rf "$DIR/spool"
mkfifo "$TMP/hangs.ready"
unshare -m sh "$TMP/in.sh" 3>"$TMP/hangs.ready" >"$TMP/hangs.log" 2>&1 </dev/null &
hangs=$!
if [ "$(wc -l <"$TMP/hangs.ready")" -ne 1 ]; then
	echo "skipped: $(tail -1 "$TMP/hangs.log")"
	exit 0
fi
check "processors are sampled" wait_until '[ "$(count cpu)" -ge 10 ]' 30
check "events are taken" poolscope-emit -q -p "$pool" s e --wait stored --timeout 60s
check "the log reports the one that does not answer" wait_until \
	'grep -q "parent/disk is not sampled: it does not answer" "$TMP/hangs.log"'
# shellcheck disable=SC2034 # for wait_until
before=$(count cpu)
check "processors go on" wait_until '[ "$(count cpu)" -ge $((before + 10)) ]' 30
check_text "once" 1 "$(grep -c 'does not answer' "$TMP/hangs.log")"
wait_until '[ "$(grep -c "is not sampled" "$TMP/hangs.log")" -ge 4 ]'
check_text "and what lies over a disk" 1 "$(grep -c '/over is not sampled: something else is mounted over it' "$TMP/hangs.log")"
check_text "and what lies over a directory above one" 1 "$(grep -c '/above/disk is not sampled: something else is mounted over it' "$TMP/hangs.log")"
check_text "and that only a file is here" 1 "$(grep -c '/file is not sampled: only files of it' "$TMP/hangs.log")"
check_text "none of them is sampled" "" "$(groups | grep -E '/(parent/disk|over|above/disk|file)$')"
touch "$TMP/end"
check "when it answers it is sampled" wait_until 'groups | grep -q "/parent/disk$"' 30
check "and the log reports it" wait_until 'grep -q "parent/disk is sampled again" "$TMP/hangs.log"'
check_text "with the sizes of the disk" 1 "$(values "filesystem$TMP/parent/disk" system.filesystem.limit |
	awk '$1 > 10 * 2^20 && $1 < 16 * 2^20' | sort -u | wc -l)"
rm "$TMP/mounted" "$TMP/end"
kill "$hangs"
wait "$hangs"
check_text "it ends with 0" 0 $?

# ---- the end while one does not answer
rm -rf "$DIR/spool"
unshare -m sh "$TMP/in.sh" 3>"$TMP/hangs.ready" >"$TMP/again.log" 2>&1 </dev/null &
hangs=$!
cat "$TMP/hangs.ready" >"$TMP/out"
check "it does not answer again" wait_until 'grep -q "does not answer" "$TMP/again.log"' 30
kill "$hangs"
# Until somebody waits for it, it is a zombie.
check "and the agent ends all the same" wait_until \
	'! kill -0 "$hangs" || grep -q ") Z" "/proc/$hangs/stat"' 60
touch "$TMP/end"
wait "$hangs"
check_text "with 0" 0 $?
