# Directories say who may do what (SECURITY.md): a shared instance of a user who is not
# root, attacked by a member of its group and by a stranger, with real user ids.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2317 # dollars of names and of other shells; functions are called by check
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
if [ "$(id -u)" -ne 0 ]; then
	echo "SKIPPED - users of several kinds: this test needs root"
	exit 0
fi

# Numbers that have no name.
SHARE=54321 OWNER=54324 MEMBER=54322 OTHER=54323
# EXEC=exec: in the background, so that $! is the number of the command.
owner() { ${EXEC:-} setpriv --reuid $OWNER --regid $OWNER --groups $SHARE -- "$@"; }
member() { ${EXEC:-} setpriv --reuid $MEMBER --regid $MEMBER --groups $SHARE -- "$@"; }
other() { ${EXEC:-} setpriv --reuid $OTHER --regid $OTHER --clear-groups -- "$@"; }
POOLSCOPE_PARTITION=acct\$pool
HOME=$TMP/home
export POOLSCOPE_PARTITION HOME SHARE
IMPOSTORS=
trap 'kill $IMPOSTORS 2>/dev/null; owner poolscope down -q >/dev/null 2>&1; _end' EXIT
chmod 0711 "$TMP"
rm -rf "$DIR"
mkdir "$DIR" "$HOME"
chown $OWNER:$OWNER "$DIR" "$HOME"
chmod 0700 "$DIR"
stored() { poolscope-dump --format jsonl --kind event --log error "$@"; }

check "a user shares an instance" owner poolscope up --agent --share $SHARE
mkdir -m 0700 "$DIR/keys" && chown $OWNER:$OWNER "$DIR/keys"
check_text "who owns what, and its mode" \
	". $OWNER $OWNER 711
fallback $OWNER $OWNER 711
fallback/new $OWNER $OWNER 3777
fallback/tmp $OWNER $OWNER 3777
keys $OWNER $OWNER 700
log $OWNER $OWNER 700
run $OWNER $SHARE 710
run/agent.sock $OWNER $SHARE 660
run/broker.ipc $OWNER $OWNER 600
run/intake.ipc $OWNER $OWNER 600
run/reader.ipc $OWNER $SHARE 660
spool $OWNER $OWNER 700
store $OWNER $OWNER 700" \
	"$(cd "$DIR" && stat -c '%n %u %g %a' . fallback fallback/new fallback/tmp keys log run run/*.sock run/*.ipc spool store | sort)"

# ---- what a member and a stranger may write
mkdir "$TMP/mine"
chmod 0777 "$TMP/mine"
cat >"$TMP/try" <<'END'
# try DIR: prints each way in which this user changed something in it.
cd /
(: >"$1/planted") 2>/dev/null && echo "file in $1"
ln -s /etc/passwd "$1/up.lock" 2>/dev/null && echo "link in $1"
mkfifo "$1/agent.ready" 2>/dev/null && echo "pipe in $1"
mkdir "$1/x.ipc" 2>/dev/null && echo "folder in $1"
for each in agent.sock broker.ipc reader.ipc agent.pid broker.ipc.lock LOCK journal; do
	rm -rf "$1/${each:?}" 2>/dev/null
	mv -f "$1/$each" "$1/$each.away" 2>/dev/null && echo "moved $1/$each"
	mv -f "$1/$each" "$TMP/mine" 2>/dev/null && echo "took $1/$each"
	cat "$1/$each" >/dev/null 2>&1 && echo "read $1/$each"
	chmod 777 "$1/$each" 2>/dev/null && echo "opened $1/$each"
done
mv "$1" "$1.away" 2>/dev/null && echo "moved $1"
:
END
for who in member other; do
	for each in "$DIR" "$DIR/run" "$DIR/store" "$DIR/spool" "$DIR/log" "$DIR/keys" "$DIR/fallback"; do
		check_text "$who changes nothing in ${each#"$TMP/"}" "" "$($who sh "$TMP/try" "$each")"
	done
done
check "agent, broker and aggregator still listen" owner poolscope-emit test after-that --wait stored

# ---- past the agent
for who in member other; do
	check "$who sends to broker and aggregator in the name of a node" $who \
		/usr/bin/python3 "$ROOT/tests/attack/impostor.py" direct "$DIR/run/broker.ipc" "$DIR/run/intake.ipc"
	check_text "... and gets no answer" 2 "$(grep -c "no answer" "$TMP/out")"
done
check "a member emits through the agent" member poolscope-emit test of-member --wait stored
check_text "... which notes who" 1 "$(member poolscope-dump --format jsonl --kind event --name test:of-member |
	grep -c "\"submitter.uid\": $MEMBER")"
check_text "nothing is stored of another node" "" "$(stored -p 'a$b')"
check_status 1 "a member cannot import" member timeout 60 poolscope-generate testrun -p 'a$b' --runs 1 --base 0 --timeout 2s
check_printed "... and learns why" "broker.ipc.*Permission denied"

# ---- in the place of a program that is down
impostor() {
	EXEC="exec" "$1" /usr/bin/python3 "$ROOT/tests/attack/impostor.py" take "$DIR/run/broker.ipc" "$DIR/run/intake.ipc" \
		"$DIR/run/reader.ipc" "$DIR/run/agent.sock" >"$TMP/impostor.$1" 2>&1 &
	IMPOSTORS="$IMPOSTORS $!"
	wait_until "grep -q waiting '$TMP/impostor.$1'"
}
check "a member waits for his chance" impostor member
check "so does a stranger" impostor other
for name in broker aggregator agent; do
	kill "$(cat "$DIR/run/$name.pid")"
	check "the $name is down" wait_until '[ ! -e "$DIR/run/$name.pid" ]' 30
	check "... an event of a user waits or fails meanwhile, and none says that it is stored" sh -c \
		'! setpriv --reuid "$0" --regid "$0" --groups "$SHARE" poolscope-emit test "without-$1" --wait stored --timeout 1s' \
		$MEMBER $name
	check "the $name starts again" owner poolscope up --agent --share $SHARE
	check "... and an event is stored" member poolscope-emit test "with-$name" --wait stored
done
check_text "nobody took a socket" "waiting waiting" "$(cat "$TMP"/impostor.* | xargs)"
check "what was emitted meanwhile is stored" wait_until \
	'[ "$(stored --name "test:without-*" | wc -l)" -eq 3 ]' 30
# shellcheck disable=SC2086 # numbers
kill $IMPOSTORS
IMPOSTORS=

# ---- what waits in the fallback queue
kill "$(cat "$DIR/run/agent.pid")"
wait_until '[ ! -e "$DIR/run/agent.pid" ]' 30
check "a stranger leaves an event" other poolscope-emit test queued --message secret-of-other
check_text "... which nobody else reads, but the owner of the instance" "owner" \
	"$(for who in member owner; do $who sh -c 'grep -qs secret-of-other "$1"/*' - "$DIR/fallback/new" && echo $who; done)"
check "a member leaves one" member poolscope-emit test queued
check_text "... in files that are not others' to remove" "" \
	"$(member sh -c 'rm -f "$1"/*; mv "$1"/* /tmp' - "$DIR/fallback/new" 2>&1 | grep -v "not permitted\|No such\|cannot stat\|denied" | xargs)"
owner poolscope up --agent --share $SHARE >/dev/null
check "the agent takes what is still there" wait_until 'stored --name test:queued | grep -q secret-of-other' 30
check_text "... and says whose it is" 1 "$(stored --name test:queued | grep secret | grep -c "\"submitter.uid\": $OTHER")"
check "a share is asked for at each start" owner poolscope up --agent --share $SHARE
check_status 1 "... and not given to programs that run" owner poolscope up --agent --share $OWNER
check_printed "... which is said" "the aggregator runs already, without --socket-group=$OWNER"
owner poolscope down -q

# ---- a directory that others can write, with what they left in it
echo precious >"$TMP/precious"
chmod 3770 "$DIR/run"
member ln -s "$TMP/precious" "$DIR/run/up.lock"
check_status 1 "it is refused" owner timeout 60 poolscope up --agent
check_printed "... with the remedy" "$DIR/run can be written by others.*chmod go-w $DIR/run"
check_status 1 "root refuses it, too" timeout 60 poolscope up --agent
check_printed "... because it is another user's" "$DIR belongs to user"
rm "$DIR/run/up.lock"
member mkfifo "$DIR/run/up.lock"
check_status 1 "a pipe makes nobody wait" owner timeout 60 poolscope up --agent
for program in "aggregator" "broker" "agent"; do
	check_status 1 "the $program does not start there" owner timeout 60 "poolscope-$program" --dir "$DIR"
	check_printed "... and says why" "$DIR/run can be written by others (mode 3770).*chmod go-w"
done
check_status 1 "an agent does not go to a broker there" owner timeout 60 poolscope-agent --dir "$HOME/a" --broker "ipc://$DIR/run/broker.ipc"
check_printed "... and says why" "$DIR/run can be written by others"
for plant in 'ln -s "$0" "$1"' 'mkfifo "$1"' ': >"$1" && chmod 644 "$1"' ': >"$1"'; do
	for name in intake.ipc.lock agent.pid agent.sock.lock; do
		rm -f "$DIR/run/$name"
		chmod 3770 "$DIR/run"
		member sh -c "$plant" "$TMP/precious" "$DIR/run/$name"
		chmod 0710 "$DIR/run"
		check_status 1 "$name of a member ($plant) is refused" owner timeout 120 poolscope up -q --agent
		check_printed "... with the remedy" "$DIR/run/$name .*remove it"
		rm -f "$DIR/run/$name"
	done
done
check_text "the file of root is what it was" precious "$(cat "$TMP/precious")"
check "without them it starts" owner poolscope up -q --agent --share $SHARE
check "... and takes events" member poolscope-emit test well --wait stored
owner poolscope down -q

# ---- a listener of somebody else in a directory of everybody's
mkdir -m 1777 "$TMP/everybody"
EXEC="exec" member /usr/bin/python3 "$ROOT/tests/attack/impostor.py" take "$TMP/everybody/agent.sock" >"$TMP/impostor.member" 2>&1 &
IMPOSTORS=$!
wait_until 'grep -q bound "$TMP/impostor.member"'
check_status 1 "an event does not go to it" other poolscope-emit --socket "$TMP/everybody/agent.sock" \
	--dir "$TMP/nowhere" test private --wait stored --timeout 2s
check_text "... not a byte" "" "$(grep STOLEN "$TMP/impostor.member")"
check "whose own it is may use it" member poolscope-emit --socket "$TMP/everybody/agent.sock" test mine
check "... as the impostor says" grep -q STOLEN "$TMP/impostor.member"
kill $IMPOSTORS
IMPOSTORS=

# ---- a fallback queue that somebody else has made
for mode in 1777 0755; do
	for who in $OWNER 0; do
		member mkdir -m $mode "$TMP/everybody/queue"
		setpriv --reuid "$who" --regid "$who" --clear-groups -- poolscope-agent --dir "$HOME/of-$who" \
			--fallback "$TMP/everybody/queue" --broker "ipc://$HOME/nobody.ipc" >"$TMP/queue.log" 2>&1 &
		IMPOSTORS=$!
		check "the agent of user $who reads no queue of mode $mode" wait_until \
			'grep -q "fallback queue not available.*queue \(can be written by others\|belongs to another user\)" "$TMP/queue.log"' 30
		check_text "... and makes nothing in it" "" "$(ls -A "$TMP/everybody/queue")"
		kill $IMPOSTORS
		wait $IMPOSTORS
		rm -r "$TMP/everybody/queue"
	done
done
IMPOSTORS=

# ---- the number of a process of root
tail -f /dev/null &
victim=$!
# While the owner holds the lock: root would kill, or to show, another process.
EXEC="exec" owner sh -c 'exec 7>"$1/run/agent.pid"; flock 7; echo "$2" >&7; touch "$1/run/held"; exec tail -f /dev/null' \
	- "$DIR" $victim &
IMPOSTORS=$!
wait_until '[ -e "$DIR/run/held" ]'
check_status 1 "root's down does not kill it" poolscope down
check_printed "... and says why" "names process $victim, which is not one of the file's owner"
check "it lives" kill -0 $victim
check "config show does not look at it" poolscope config show --origin agent
check_text "... nor shows it" "" "$(grep /dev/null "$TMP/out")"
kill $IMPOSTORS $victim
IMPOSTORS=
rm -f "$DIR/run/held" "$DIR/run/agent.pid"

# ---- root in the directories of the owner
for words in "up --agent" "up" ; do
	# shellcheck disable=SC2086 # words
	check_status 1 "root's $words makes nothing there" poolscope $words
	check_printed "... and says what to do" "belongs to user .*: start it as that user, or the services"
done
check_status 1 "nor does root's aggregator, that finds the store" poolscope-aggregator --dir "$TMP/of-root" --store "$DIR/store"
check_printed "... which says why" "$DIR/store belongs to another user (uid $OWNER): run this as that user"
check_status 1 "nor root's agent, that finds the spool" poolscope-agent --dir "$TMP/of-root" --spool "$DIR/spool"
check_printed "... which says why" "another user owns it: run this as that user"
check_status 1 "nor root's compaction" poolscope-admin compact --store "$DIR/store"
check_text "nothing there is root's" "" "$(find "$DIR" -user root | grep -v '/keys$')"
check "the owner starts it again" owner poolscope up -q --agent
check "... and it works" owner poolscope-emit test last --wait stored
