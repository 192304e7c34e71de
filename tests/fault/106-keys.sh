# poolscope-keys is killed, or finds no room, at each of its system calls that
# change something: list and key files are then whole, whoever is let in by a
# file stays so, and the command can be given again.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../flow/lib.sh"

judge() {
	/usr/bin/python3 "$ROOT/tests/flow/keys_judge.py" "$@"
}
check "a head with keys" sh -c '
	poolscope-keys new server --role server && poolscope-keys new nodes &&
	poolscope-keys new reader --role reader && poolscope-keys new late'
mv "$DIR/keys" "$TMP/keys"

# What must hold wherever it was killed.  One process, for it is often.
cat >"$TMP/whole.py" <<'E2'
import glob, os, sys
keys = sys.argv[1]
sys.path.insert(0, os.environ["ROOT"] + "/tests/flow")
import keys_judge as judge
files = glob.glob(keys + "/*.key")
for each in files:
    judge.check_pair(each)
allowed = {row["public"]: row["name"] for row in judge.rows(keys + "/allow")}
server = judge.words(keys + "/server.key", "public")[0]
for each in files:
    name = os.path.basename(each)[:-4]
    if name.startswith("server"):
        continue
    assert server in judge.words(each, "server"), each + " does not know the server"
    if name in ("nodes", "reader"):
        assert allowed.get(judge.words(each, "public")[0]) == name, each + " is not let in"
E2
whole() {
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TMP/whole.py" "$DIR/keys"
}

# Who has finished a server's rotation leaves nothing of the key before.
is_over() {
	[ "$1" != "rotate server --finish" ] ||
		{ [ "$(cat "$DIR"/keys/*.key | grep -c '^server:')" -eq 3 ] && [ ! -e "$DIR/keys/server.old.key" ]; }
}

# A run of poolscope-keys in a fresh copy of the keys, with one fault.
# shellcheck disable=SC2086 # a command is several words
with_fault() {
	rm -rf "$DIR/keys"
	cp -a "$TMP/keys" "$DIR/keys"
	$1 >"$TMP/prepared" 2>&1 || return 99
	ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} strace -f -qq -o "$TMP/strace" \
		-e trace="$3" -e inject="$3:$4" poolscope-keys $2 >"$TMP/out" 2>"$TMP/err"
}

# try NAME PREPARE COMMAND FAULT STATUS: the fault at the first, second ... of
# each call, until there are no more of them.
# shellcheck disable=SC2086
try() {
	_faults=0 _bad=0 _again=0
	for _call in write fsync rename link unlink ftruncate; do
		_when=0
		while :; do
			_when=$((_when + 1))
			with_fault "$2" "$3" "$_call" "$4:when=$_when"
			_status=$?
			# The last run is one without a fault.
			grep -qsE 'INJECTED|SIGKILL' "$TMP/strace" || break
			_faults=$((_faults + 1))
			[ "$_status" -eq "$5" ] || [ "$_status" -eq 0 ] || _bad=$((_bad + 1))
			[ "$_status" -ne 1 ] || [ "$(wc -l <"$TMP/err")" -ge 1 ] || _bad=$((_bad + 1))
			whole >"$TMP/why" 2>&1 || _bad=$((_bad + 1))
			# Given again it is done, or says that it was done.
			poolscope-keys $3 >"$TMP/out" 2>&1
			_status=$?
			if [ "$_status" -gt 1 ] || ! whole >"$TMP/why" 2>&1 || ! is_over "$3"; then _again=$((_again + 1)); fi
		done
		[ "$_status" -eq 0 ] || { fail "$1: the run without a fault" "$TMP/err"; return; }
	done
	check "$1: $4 at $_faults calls" test "$_faults" -ge 4
	check_text "... all is whole, and who was let in is" 0 "$_bad"
	check_text "... and it can be given again" 0 "$_again"
}

for fault in "signal=KILL 137" "error=ENOSPC 1"; do
	status=${fault#* } fault=${fault% *}
	try "new" : "new more" "$fault" "$status"
	try "revoke" : "revoke late" "$fault" "$status"
	try "rotate" : "rotate nodes" "$fault" "$status"
	try "rotate --finish" "poolscope-keys rotate nodes" "rotate nodes --finish" "$fault" "$status"
	try "rotate server" : "rotate server" "$fault" "$status"
	try "rotate server --finish" "poolscope-keys rotate server" "rotate server --finish" "$fault" "$status"
done
