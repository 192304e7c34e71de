#!/bin/sh
# poolscope-top in a terminal, which tmux plays: keys go in, and the screen is read.  Sizes from
# 80x24 to 200x60, hostile names, NO_COLOR, a terminal without UTF-8; the aggregator is killed and
# comes back; top itself is killed, and leaves a clean terminal.  Without a terminal it prints
# what the commands print.
#
# The nodes' clocks are half an hour ahead, so that they stay live; n5 to n9 are not: n5 was heard
# 5 min ago (late), n6 to n9 30 min (silent).  n2 is in a phase, and its cpu did 25 % of 4
# processors in the last 10 s, of which 10 % waited for a disk: 75 % - 10 % idle is left.  It uses
# 3 GiB of 12, and its disks 4096 bytes in 10 s; nothing says that it has a GPU.  n1 is ready for
# 12 min, after a start that n10 has not begun.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
command -v tmux >/dev/null || {
	echo "tmux is missing: need_packages test"
	exit 1
}

# Of a signal that kills it, top cleans up; a sanitizer would end it first.
ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0"
TSAN_OPTIONS="${TSAN_OPTIONS:-} handle_segv=0 handle_abort=0"
export ASAN_OPTIONS TSAN_OPTIONS

# ---- the terminal

# Each screen has a server of its own: one that ends still takes a connection at times.
SCREENS=0
terminal() {
	tmux -S "$TMP/tmux$SCREENS" -f /dev/null "$@"
}
# screen WIDTHxHEIGHT [ARGUMENT...]: start top in a new terminal; its environment is $SET.
SET=
screen() {
	_size=$1
	shift
	terminal kill-server 2>/dev/null
	SCREENS=$((SCREENS + 1))
	rm -f "$TMP/ended" "$TMP/before" "$TMP/after"
	# shellcheck disable=SC2086 # words
	printf '%s\n' 'stty -g >"$TMP/before"' "env LC_ALL=C.UTF-8 $SET poolscope-top $* 2>\"\$TMP/top.log\"" \
		'echo $? >"$TMP/status"' 'stty -g >"$TMP/after"' ': >"$TMP/ended"' 'exec cat' >"$TMP/pane.sh"
	terminal new-session -d -x "${_size%x*}" -y "${_size#*x}" "sh $TMP/pane.sh"
	terminal set-option -s set-clipboard on # take what top puts on the clipboard
}
keys() {
	for _key in "$@"; do
		terminal send-keys "$_key" || return 1
	done
}
text() {
	terminal capture-pane -p
}
# matches PATTERN: does the screen have a line like this?
matches() {
	text >"$TMP/screen"
	grep -Eq -e "$1" "$TMP/screen"
}
# shows NAME PATTERN: passes when it has one soon.
shows() {
	_pattern=$2
	if wait_until 'matches "$_pattern"' 15; then
		pass "$1"
	else
		fail "$1: $2" "$TMP/screen"
	fi
}
# shows_not NAME PATTERN: now.
shows_not() {
	_pattern=$2
	if wait_until '! matches "$_pattern"' 15; then
		pass "$1"
	else
		fail "$1: $2" "$TMP/screen"
	fi
}
# fits NAME: no line was wrapped, and none scrolled away.
fits() {
	text >"$TMP/screen"
	terminal capture-pane -p -J >"$TMP/joined"
	check_text "$1: no line is wrapped" "$(wc -l <"$TMP/screen")" "$(wc -l <"$TMP/joined")"
	check_text "$1: nothing scrolled away" 0 "$(terminal display-message -p '#{history_size}')"
}
modes() {
	terminal display-message -p '#{cursor_flag} #{alternate_on} #{keypad_cursor_flag}'
}
ended() {
	wait_until 'test -e "$TMP/ended"' 15
}
# clean NAME STATUS: top has ended with it, and the terminal is as before.
clean() {
	check "$1: it ends" ended
	check_text "$1: status" "$2" "$(cat "$TMP/status")"
	check "$1: the terminal's modes are those of before" cmp "$TMP/before" "$TMP/after"
	# The terminal reads what top has written when it comes to that.
	wait_until '[ "$(modes)" = "1 0 0" ]'
	check_text "$1: cursor visible, main screen, no mode of keys" "1 0 0" "$(modes)"
}

# ---- the records

model work <<-'END'
	phase "step" {
		start = "work:start"
		end = "work:end"
		key = "job"
	}
END
model boot <<-'END'
	phase "boot" {
		start = "work:power"
		end = "work:up"
		required = true
	}
END
cp deploy/models/testrun.conf "$TMP/models/"
aggregate --models "$TMP/models"
esc=$(printf '\033[2J\033]0;x\007')
bidi=$(printf '\342\200\256')
{
	for i in 1 2 3 4; do
		echo "event 1800 n$i work:other"
	done
	echo "event -780 n1 work:power"
	echo "event -720 n1 work:up"
	echo "event 1790 n2 work:start job=tf:1.3"
	echo "event -9000 n4 work:start job=long"
	echo "event -300 n5 work:other"
	for i in 6 7 8 9; do
		echo "event -1800 n$i work:other"
	done
	echo "group n2 cpu system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge"
	echo "sample 1780 n2 cpu 1000 100 4"
	echo "sample 1790 n2 cpu 4000 500 4"
	echo "group n2 memory system.memory.limit:By:gauge system.memory.usage.used:By:gauge"
	echo "sample 1790 n2 memory 12884901888 3221225472"
	echo "group n2 load system.cpu.load_average.1m:{thread}:gauge"
	echo "sample 1790 n2 load 2.5"
	echo "group n2 disk/sda system.disk.io.read:By:counter system.disk.io.write:By:counter"
	echo "sample 1780 n2 disk/sda 0 0"
	echo "sample 1790 n2 disk/sda 1024 3072"
	echo "group n1 self poolscope.agent.spool.unacked:By:gauge"
	echo "sample 1800 n1 self 0"
	echo "group n3 self poolscope.agent.spool.unacked:By:gauge"
	echo "sample 1790 n3 self 33554432"
	echo "event 1800 節点節点節点節点節点節点節点節点節点節点節点節点節点 work:start job=$esc"
	echo "event 1800 m${bidi}evil work:start job=ok"
	i=10
	while [ "$i" -lt 70 ]; do
		echo "event 1800 n$i work:other"
		i=$((i + 1))
	done
} >"$TMP/lines"
records <"$TMP/lines"
check "runs are stored" poolscope-generate testrun --runs 30 -p 'acct$pool' -n n1 --base now --broker "ipc://$DIR/run/intake.ipc" --quiet
PARTITION='acct$other'
records <<-'END'
	event 1800 o1 work:other
END
PARTITION='acct$pool'

# ---- keys and screens
screen 80x24 -p "'acct\$pool'"
shows "1 the first line: pool and nodes" '^poolscope top  acct\$pool  [0-9:]{8}  71 nodes 66 live 1 late 4 silent'
shows "1 the second line: who is in a phase" '^step [█ ]*4 open'
check "1 the worst nodes come first" wait_until '[ "$(text | sed -n 4,7p | grep -c "^n[6-9] .* silent")" = 4 ]'
shows "1 ... then what needs attention" '^n3 +live .*32MiB.* spool fills$'
check "1 ... then who is late" wait_until '[ "$(text | sed -n 8,9p | cut -c 1-3 | xargs)" = "n3 n5" ]'
shows "1 ... which may pass" '^n5 +late '
shows_not "1 ... and is nothing wrong" '^n5 .* not heard$'
fits "1 80x24"
keys G
shows "2 the last node, with a name in wide characters" '^節.*live +st'
fits "2 wide characters"
keys g
shows "3 back to the first" '^n6 +silent'
keys /
keys n2 Enter
shows "4 a filter leaves the nodes that have it in their names" 'filter: n2 '
shows "4 ... such as this one, with its phase, and what its cpu did" '^n2 +live +step tf:1\.3 .* 15%'
shows_not "4 ... and no others" '^n6 '
keys Escape / n4 Enter
shows "4 a phase that began hours ago is still open" '^n4 +live +ste.*ong +2\.5h'
keys Escape / n1 Enter
shows "4 a node that is ready says since when" '^n1 +live +ready +1[2-5]min'
shows "4 ... one that never began does not" '^n10 +live +- +- '
keys Escape
shows "5 Escape ends it" '^n6 +silent'
keys / 'n?' Enter
shows "6 a pattern" '^n9 +silent'
shows_not "6 ... is of the whole name" '^n10 '
keys Escape s
shows "7 the mark of the sorted column" '^NODE▼'
keys r
shows "7 the other direction" '^NODE▲'
keys r s s s s
shows "8 sorted by the time since a node was heard" 'HEARD▼|HEAR▼'
shows "8 ... the longest first" '^n[6-9] +silent'
keys 2
shows "9 runs" '^RUN +GROUP'
shows "9 ... with the six steps" 'QUEUE'
fits "9 runs at 80x24"
keys Enter
shows "10 all about a run" 'steps, in seconds'
keys Escape 3
shows "11 pools" '^acct\$pool +71 +66 +1 +4 '
shows "11 ... all of them" '^acct\$other +1 +1 +0'
keys 4
shows "12 the pipeline" '^ok: all is well'
shows "12 ... and its parts" '^agents +66 heard, 5 not heard'
keys v
shows "13 v: the next view is the first one" '^n6 +silent'
keys h
shows "13 h: the one before" '^PIPELINE'
keys l '?'
shows "14 help" 'back and forward through the last hour'
fits "14 help at 80x24"
keys Escape Space
shows "15 space stops" '^stopped at [0-9:]{8}'
keys Space
shows_not "15 ... and goes on" '^stopped at'
keys '['
shows "16 back in time" '^this was at [0-9:]{8}'
keys ']' ']' ']' ']' ']' ']'
shows_not "16 ... and forward to now" '^this was at'
keys y
shows "17 the link of the view" '^http://127.0.0.1:5580/#/pool/acct%24pool/map$'
check "17 ... is on the clipboard" wait_until \
	'[ "$(terminal show-buffer)" = "http://127.0.0.1:5580/#/pool/acct%24pool/map" ]'
keys / n2 Enter Enter
shows "17 all about a node: its memory" '^  memory +3\.0GiB of 12GiB$'
shows "17 ... and a GPU that nobody sees is no idle one" '^  gpu +-$'
keys Escape Escape j j Enter
shows "17 all about another" '^  state +silent'
shows "17 ... by its whole name" '^  node +n8$'
keys y
shows "17 the link of the node" '^http://127.0.0.1:5580/#/pool/acct%24pool/node/n8$'
keys Escape
terminal resize-window -x 200 -y 60
shows "18 200x60: no column is left out" '^NODE .*SPOOL +CLOCK +CPU 2min +MEM +LOAD +RX/S +DISK/S +GPU +IOWAIT +PSI IO +WRONG'
shows "18 ... with all that is known" '^n2 +live +step tf:1\.3 .* 15% .* 25% +2\.50 +- +410B +- +10% +- *$'
shows "18 ... and 56 rows fit" '1-56 of 71'
fits "18 200x60"
terminal resize-window -x 40 -y 10
shows "19 40x10: the important ones stay" '^NODE +STATE.*WRONG'
fits "19 40x10"
terminal resize-window -x 10 -y 2
fits "19 10x2"
terminal resize-window -x 100 -y 30
keys g
shows "20 100x30" '1-26 of 71'
fits "20 100x30"
keys q
clean "q" 0

# ---- without a pool, without colours, without UTF-8
SET=NO_COLOR=1
screen 80x24
shows "without -p all pools are shown" '^acct\$other +1'
check_text "NO_COLOR: no colours" 0 "$(terminal capture-pane -e -p | grep -c "$(printf '\033')\[3[0-7]")"
keys j Enter
shows "Enter goes to the pool" '^poolscope top  acct\$pool'
shows "... to its nodes" '^n6 +silent'
keys q
clean "q in another pool" 0
SET=
screen 80x24 -p "'acct\$pool'"
shows "with colours" '^n6 +silent'
check_text "... there are some" yes "$(terminal capture-pane -e -p | grep -q "$(printf '\033')\[3[0-7]" && echo yes)"
SET=LC_ALL=C
screen 80x24 -p "'acct\$pool'"
shows "without UTF-8" 'WRONGv'
keys G
shows "... names are of ASCII" '^\?\?.*live +st'
check_text "... and so is all else" "" "$(text | LC_ALL=C grep '[^ -~]')"
SET='TERM=dumb'
screen 80x24 -p "'acct\$pool'"
check "a terminal that cannot show a screen: it ends" ended
check_text "... with 1" 1 "$(cat "$TMP/status")"
check "... and says so" grep -q "the terminal 'dumb' cannot show a screen: use --once" "$TMP/top.log"
SET=

# ---- hostile texts
screen 80x24 -p "'acct\$pool'"
shows "what turns the direction of text around is not shown" '^m\?evil +live'
keys G
shows "control characters of a key are not sent to the terminal" '^節.*live +step .*[]]0;x[?]'
check_text "... which has no title from it" 0 "$(terminal display-message -p '#{pane_title}' | grep -cx x)"

# ---- the aggregator goes away, and comes back
kill -9 "$(pid aggregator)"
shows "without an answer the screen says since when" '^no answer since [0-9:]{8}'
keys 4
shows "... and what that means" '^critical: the store does not answer'
keys 1 g
shows "... and goes on" '^n6 +silent'
stop aggregator KILL
aggregate --models "$TMP/models"
shows_not "it goes on when there is an answer again" '^no answer since'
records <<-'END'
	event 1800 again work:other
END
shows "... with what is new" '  72 nodes 67 live'

# ---- killed
for signal in TERM INT HUP SEGV ABRT; do
	screen 80x24 -p "'acct\$pool'"
	shows "before $signal" '^n6 +silent'
	top=$(terminal display-message -p '#{pane_pid}')
	kill "-$signal" "$(ps -o pid= --ppid "$top" | tr -d ' ')"
	case $signal in
	INT) status=0 ;;
	*) status=$((128 + $(kill -l "$signal" 2>/dev/null | grep -x '[0-9]*' || /usr/bin/python3 -c "import signal; print(int(signal.SIG$signal))"))) ;;
	esac
	clean "$signal" "$status"
done
terminal kill-server

# ---- without a terminal
# Both ask a moment apart, in which a number can change: what is the same once is enough.
command() {
	COMMAND=$*
}
same() {
	_same=$1
	shift
	for _try in 1 2 3 4 5; do
		# shellcheck disable=SC2086 # a list of words
		timeout 60 poolscope-stats --quiet $COMMAND >"$TMP/of_command" 2>"$TMP/err"
		STATUS=$?
		timeout 60 poolscope-top --quiet "$@" >"$TMP/of_top" 2>"$TMP/err"
		_status=$?
		# An age is that of the moment.
		sed -i '/"received_age"/d' "$TMP/of_top" "$TMP/of_command"
		cmp -s "$TMP/of_top" "$TMP/of_command" && break
	done
	check_text "$_same: the status" "$STATUS" "$_status"
	check "$_same: the same" cmp "$TMP/of_top" "$TMP/of_command"
}
PARTITION='acct$live'
records <<-'END'
	event 1800 n1 work:other
	event 1800 n2 work:other
END
command nodes -p 'acct$live' --format json
same "nodes as JSON" -p 'acct$live' --format json
command runs --newest 20 -p 'acct$pool'
same "runs" -p 'acct$pool' --view runs --once
command runs --newest 20 -p 'acct$pool' --format json
same "runs as JSON" -p 'acct$pool' --view runs --format json
command status
same "the pipeline" --view pipeline --once
command nodes -p 'acct$none'
same "a pool that is not there" -p 'acct$none'
timeout 60 poolscope-stats pools --format json >"$TMP/of_command"
timeout 60 poolscope-top --format json --quiet >"$TMP/of_top"
check "pools as JSON: the same but for ages" /usr/bin/python3 -c 'import json, sys
one, two = ([{k: v for k, v in row.items() if k != "age"} for row in json.load(open(name))["rows"]] for name in sys.argv[1:])
sys.exit(one != two or len(one) != 3)' "$TMP/of_top" "$TMP/of_command"
wrong_usage "a view that is not there" '--view: must be one of nodes|runs|pools|pipeline' poolscope-top --view node
wrong_usage "an operand" "unexpected argument 'nodes'" poolscope-top nodes
