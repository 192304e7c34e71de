# poolscope-keys is killed at each of its system calls that change something:
# list and key files are then whole, whoever is let in by a file stays so, and
# the command can be given again.
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
sys.argv, keys = ["judge", "pairs"], sys.argv[1]
sys.path.insert(0, os.environ["ROOT"] + "/tests/flow")
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
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
	/usr/bin/python3 "$TMP/whole.py" "$DIR/keys"
}

# shellcheck disable=SC2086 # a command is several words
# killed_at NAME PREPARE COMMAND: at the first, second ... of each call.
killed_at() {
	_kills=0 _bad=0 _again=0
	for _call in write fsync rename link unlink ftruncate; do
		_when=0
		while :; do
			_when=$((_when + 1))
			rm -rf "$DIR/keys"
			cp -a "$TMP/keys" "$DIR/keys"
			eval "$2" >"$TMP/out" 2>&1 || { fail "$1: prepared" "$TMP/out"; return; }
			ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} strace -f -qq -o "$TMP/strace" \
				-e trace="$_call" -e inject="$_call:signal=KILL:when=$_when" \
				poolscope-keys $3 >"$TMP/out" 2>&1
			_status=$?
			[ "$_status" -eq 137 ] || break
			_kills=$((_kills + 1))
			whole >"$TMP/why" 2>&1 || _bad=$((_bad + 1))
			# Given again it is done, or says that it was done.
			poolscope-keys $3 >"$TMP/out" 2>&1
			_status=$?
			if [ "$_status" -gt 1 ] || ! whole >"$TMP/why" 2>&1; then _again=$((_again + 1)); fi
		done
		[ "$_status" -eq 0 ] || { fail "$1: the run without a kill" "$TMP/out"; return; }
	done
	check "$1: killed $_kills times" test "$_kills" -ge 4
	check_text "... all is whole, and who was let in is" 0 "$_bad"
	check_text "... and it can be given again" 0 "$_again"
}

killed_at "new" : "new more"
killed_at "revoke" : "revoke late"
killed_at "rotate" : "rotate nodes"
killed_at "rotate --finish" "poolscope-keys rotate nodes" "rotate nodes --finish"
killed_at "rotate server" : "rotate server"
killed_at "rotate server --finish" "poolscope-keys rotate server" "rotate server --finish"
