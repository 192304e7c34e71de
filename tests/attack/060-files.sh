#!/bin/sh
# Files in the fallback queue, the spool and next to the sockets that are not
# what they should be; FILES of them at once.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/attack/lib.sh
. "$ROOT/tests/attack/lib.sh"

agent() {
	start agent poolscope-agent --no-samples --no-clock --broker "ipc://$DIR/run/intake.ipc" \
		-p acct/pool -n node1
}
is_empty() {
	[ -z "$(ls -A "$DIR/fallback/new")" ]
}
resident_kib() {
	awk '/^VmRSS/ { print $2 }' "/proc/$(pid agent)/status"
}
name() {
	printf '%032x' "$1"
}
# How many events of this name are stored.
count() {
	poolscope-dump -p acct/pool --format jsonl --quiet |
		jq -r 'select(.name == "'"$1"'") | .time' | wc -l
}
start aggregator poolscope-aggregator || exit 1
agent || exit 1
poolscope-emit test begin --wait stored
before=$(resident_kib)
new=$DIR/fallback/new

# ---- the fallback queue
printf 'secret of another' >"$TMP/secret"
kill -STOP "$(pid agent)"
ln -s /etc/passwd "$new/$(name 1)"
ln "$TMP/secret" "$new/$(name 2)"
mkfifo "$new/$(name 3)"
truncate -s 10G "$new/$(name 4)"
mkdir "$new/$(name 5)"
/usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$new/$(name 6)"
ln -s "$new" "$new/$(name 7)"
: >"$new/$(name 8)"
: >"$new/../x; touch canary"
mv "$new/../x; touch canary" "$new/; touch canary \$(touch canary)"
: >"$new/$(printf 'two\nlines\033[31m')"
odd=10
if mknod "$new/$(name 9)" c 1 5 2>/dev/null; then
	odd=$((odd + 1))
fi
poolscope-emit --socket "$TMP/nobody" -p acct/pool -n node1 test good --message 1 2>/dev/null
kill -CONT "$(pid agent)"
check "what is no event's file is set aside, and the good one taken" \
	wait_until 'is_empty && [ "$(count good)" -eq 1 ]' 10
check_text "all of it" "$odd" "$(find "$DIR/fallback/bad" -mindepth 1 -maxdepth 1 -printf . | wc -c)"
check_text "who had a link is as he was" "secret of another" "$(cat "$TMP/secret")"
check_status 1 "no name of a file gets into the log as it is" \
	grep -q "$(printf '\033')" "$TMP/agent.log"
check_text "... nor breaks its lines" 0 \
	"$(grep -cv -e '^[0-9T:.+-]* [a-z]* poolscope-' "$TMP/agent.log")"

# ---- very many
files=${FILES:-3000}
make_files() {
	/usr/bin/python3 -c 'import os, sys
for i in range(int(sys.argv[2])):
    os.close(os.open("%s/%032x" % (sys.argv[1], 100 + i), os.O_CREAT | os.O_WRONLY, 0o600))
    ' "$new" "$1"
}
make_files 10
check "files that nobody moved there are looked at" wait_until is_empty
kill -STOP "$(pid agent)"
# No more are left among very many.
poolscope-emit --socket "$TMP/nobody" -p acct/pool -n node1 test among --message 1 2>/dev/null
make_files "$files"
kill -CONT "$(pid agent)"
check "among $files bad files the good one is found" \
	wait_until '[ "$(count among)" -eq 1 ]' $((60 + files / 500))
check "meanwhile it accepts other events" \
	timeout 60 poolscope-emit test meanwhile --wait stored
check "they are set aside, but not without a bound" wait_until \
	'is_empty && [ "$(find "$DIR/fallback/bad" -mindepth 1 -maxdepth 1 | wc -l)" -le 1000 ]' \
	$((60 + files / 100))
after=$(resident_kib)
echo "# memory of the agent: $before KiB before, $after KiB after"
[ "${VARIANT:-release}" != release ] ||
	check "its memory is what it was" test "$after" -lt $((before + 8192))

# ---- the socket
check_text "its socket is for its user only" 600 \
	"$(stat -c %a "$DIR/run/agent.sock")"
check_status 1 "a second agent on the same socket is refused" \
	timeout 60 poolscope-agent --no-samples --broker "ipc://$DIR/run/intake.ipc" -p acct/pool \
	--spool "$TMP/other" --socket "$DIR/run/agent.sock" --fallback "$TMP/otherqueue"
check "the first goes on" timeout 60 poolscope-emit test still --wait stored
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$TMP"
	check_status 1 "another user does not reach the socket" setpriv \
		--reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])' \
		"$DIR/run/agent.sock"
	check_printed "... nor the directory" "PermissionError"

	# ---- a user who claims to be another, where the socket is open to all
	chmod 711 "$DIR" "$DIR/run" "$DIR/fallback"
	chmod 666 "$DIR/run/agent.sock"
	chmod 1777 "$DIR/fallback/new" "$DIR/fallback/tmp"
	for way in agent.sock nobody; do
		check "another user hands in an event as root ($way)" setpriv \
			--reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent \
			"$B/bin/poolscope-emit" --dir "$DIR" --socket "$DIR/run/$way" \
			-p acct/pool -n node1 test "claim-$way" \
			--attr submitter.uid=0 --attr user=root
		check "... which is stored with the user id from the kernel" wait_until \
			'[ "$(poolscope-dump -p acct/pool --format jsonl --quiet |
				jq -c "select(.name == \"claim-'"$way"'\") | [.attributes[\"submitter.uid\"], .attributes.user]")" = "[65534,\"root\"]" ]' 20
	done
	check "another user measures a command" setpriv --reuid 65534 --regid 65534 --clear-groups \
		env HOME=/nonexistent "$B/bin/poolscope-run" --dir "$DIR" -p acct/pool -n node1 -- true
	check "... and the entity of his track says who" wait_until \
		'poolscope-dump -p acct/pool --format jsonl --quiet --kind entity | jq -e "select(.attributes[\"submitter.uid\"] == 65534)"' 20
	poolscope-emit -p acct/pool -n node1 test claim-own --wait stored
	check_text "an event of the agent's own user has none" null \
		"$(poolscope-dump -p acct/pool --format jsonl --quiet |
			jq -c 'select(.name == "claim-own") | .attributes["submitter.uid"]')"
	chmod 700 "$DIR" "$DIR/run" "$DIR/fallback" "$DIR/fallback/new" "$DIR/fallback/tmp"
fi

# ---- the spool
stop agent
tried() {
	rm -f "$TMP/agent.ready"
	if agent; then
		timeout 60 poolscope-emit test "$1" --wait stored || return 1
		stop agent
	fi
	return 0
}
spool=$DIR/spool
for what in link pipe device big directory; do
	seg=$(find "$spool" -name '*.seg' | sort | tail -n 1)
	[ -n "$seg" ] || seg=$spool/00000000000000000099.seg
	cp -a "$spool" "$TMP/spool.was"
	rm -rf "$seg"
	case $what in
	link) ln -s /etc/passwd "$seg" ;;
	pipe) mkfifo "$seg" ;;
	device) mknod "$seg" c 1 5 2>/dev/null || : >"$seg" ;;
	big) truncate -s 10G "$seg" ;;
	directory) mkdir "$seg" ;;
	esac
	check "a $what in the place of a segment ends in an answer" tried "$what"
	alive agent && stop agent
	rm -rf "$spool"
	mv "$TMP/spool.was" "$spool"
done
check "with the spool that was there it works again" agent
check "nothing ran" test ! -e canary
