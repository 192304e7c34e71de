#!/bin/sh
# poolscope-run: a command runs as it would without it, and its span says how.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # quoted for another shell
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/agent.sh
. "$ROOT/tests/flow/agent.sh"
unset TRACEPARENT

# spans EXPRESSION [CONDITION]: of each span that the aggregator has.
spans() {
	stored "$1" "r['kind'] == 3 and (${2:-True})"
}
TRACK='r["record"][2]'
NAME='r["record"][3]'
A='r["record"][5]'

# ---- wrong usage
check_status 2 "no command is wrong usage" poolscope-run
check_status 2 "an option is not the command's before --" poolscope-run --nope -- true
check_status 2 "a name has no control characters" poolscope-run --name "$(printf 'a\tb')" -- true

# ---- without an agent
check_status 3 "without an agent a command ends as it does" poolscope-run -- sh -c 'echo out; exit 3'
check_printed "... and writes what it does" "^out$"
check_printed "... the span is left where the next agent looks" "no agent at .*left in"
check_text "... as one file" 1 "$(find "$DIR/fallback/new" -type f | wc -l)"
check_status 3 "a place where nothing can be left changes nothing" \
	poolscope-run --fallback /dev/null/no --socket "$TMP/none" -- sh -c 'exit 3'
check_printed "... and the message says so" "not published"

# ---- with an agent
start_aggregator || exit 1
start agent poolscope-agent --no-samples --no-clock --broker "$AGGREGATOR" -p 'acct$pool' -n node1 || exit 1
check "the agent finds what was left" wait_until "[ \"\$(spans '$NAME')\" = sh ]"
check_text "... as a span of track, name and category" "run/sh sh run 3" \
	"$(spans "$TRACK, $NAME, r['record'][4], ${A}['exit.status']")"

# settle: all that was accepted is at the aggregator.
settle() {
	poolscope-emit test settled --wait stored --timeout 60s
}
check_status 127 "a missing command is 127" poolscope-run --name m1 -- /nonexistent/command
check_printed "... and says so" "/nonexistent/command: No such file"
check_status 126 "a file that is no program is 126" poolscope-run --name m2 -- /etc/passwd
check_status 0 "a success is one" poolscope-run --name m3 -- true
check_status 255 "the greatest status is passed on" poolscope-run --name m4 -- sh -c 'exit 255'
"$B/bin/poolscope-run" --name m5 -- sh -c 'kill -USR1 $$' >/dev/null 2>&1
check_text "a command's signal is this program's" 138 $?
settle
check_text "... and each span says it" "m1 127
m2 126
m3 0
m4 255
m5 signal 10" \
	"$(spans "$NAME, ${A}['exit.status'] if 'exit.status' in $A else 'signal %d' % ${A}['exit.signal']" \
		"r['record'][3][0] == 'm'" | sort)"

# ---- what it used
check "a command that works" poolscope-run --name work -- python3 -c '
import os, sys, time
b = bytearray(64 << 20)
while time.process_time() < 0.3: pass
f = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
os.write(f, bytes(b[:8 << 20])); os.fsync(f)' "$TMP/big"
settle
used="$(spans "${A}['cpu.user'] + ${A}['cpu.system'] >= 0.29, ${A}['memory.peak'] >= 64 << 20, \
${A}['io.write'] in (0,) or ${A}['io.write'] >= 8 << 20, r['record'][1] - r['record'][0] >= 290000000" \
	"r['record'][3] == 'work'")"
check_text "... is seen to: time, memory, what was written, how long" "True True True True" "$used"

# ---- traces
parent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00
check "a command within a trace" env TRACEPARENT=$parent poolscope-run --name outer -- \
	sh -c 'echo "$TRACEPARENT"; poolscope-run --name inner -- sh -c "echo \$TRACEPARENT"'
outer=$(sed -n 1p "$TMP/out")
inner=$(sed -n 2p "$TMP/out")
settle
check_text "... is part of it, and so is what it runs" \
	"inner 4bf92f3577b34da6a3ce929d0e0e4736 $(echo "$inner" | cut -d- -f3) $(echo "$outer" | cut -d- -f3)
outer 4bf92f3577b34da6a3ce929d0e0e4736 $(echo "$outer" | cut -d- -f3) 00f067aa0ba902b7" \
	"$(spans "$NAME, ${A}['trace.id'], ${A}['span.id'], ${A}['parent.id']" "r['record'][3] in ('outer', 'inner')" | sort)"
check_text "... with its flags" "00 00" "$(echo "$outer" | cut -d- -f4) $(echo "$inner" | cut -d- -f4)"
check "a command in no trace" env TRACEPARENT=nonsense poolscope-run --name alone -- sh -c 'echo "$TRACEPARENT"'
check_printed "... begins one" '^00-[0-9a-f]\{32\}-[0-9a-f]\{16\}-01$'
settle
check_text "... and has no parent" False "$(spans "'parent.id' in $A" "r['record'][3] == 'alone'")"

# ---- signals
# passes NAME SIGNAL [OPTION...]: a command that ends with 7 at the signal gets
# one that was sent to us.
passes() {
	_name=$1 _signal=$2
	shift 2
	rm -f "$TMP/at"
	poolscope-run --name passed "$@" -- sh -c '
		trap "kill \$!; exit 7" "$1"
		tail -f /dev/null & : >"$2"; wait' x "$_signal" "$TMP/at" &
	_run=$!
	wait_until "[ -e $TMP/at ]"
	kill "-$_signal" "$_run"
	wait "$_run"
	check_text "$_name" 7 $?
}
passes "TERM goes on to the command" TERM
passes "USR2 goes on to the command" USR2
passes "HUP goes on to the command" HUP
passes "... of a command with recorded children, too" TERM --children
# state PID: as ps says it.
state() {
	sed -n 's/^State:[^A-Z]*\([A-Za-z]\).*/\1/p' "/proc/$1/status"
}
rm -f "$TMP/at"
mkfifo "$TMP/go"
poolscope-run --name stopped -- sh -c ': >"$1"; read -r _ <"$2"; exit 9' x "$TMP/at" "$TMP/go" &
run=$!
wait_until "[ -e $TMP/at ]"
kill -TSTP "$run"
check "a command that stops stops us" wait_until "[ \"\$(state $run)\" = T ]"
kill -CONT "$run"
check "... until we go on" wait_until "[ \"\$(state $run)\" != T ]"
echo >"$TMP/go"
wait "$run"
check_text "... and it, too" 9 $?
# What is ignored stays so: nohup.
check_status 0 "what we ignore the command ignores" sh -c 'trap "" HUP
	exec poolscope-run --name nohup -- sh -c "kill -HUP \$\$; exit 0"'

# ---- children
if poolscope-run --name probe --children -- true 2>&1 | grep -q "cannot trace the command"; then
	echo "no ptrace here: children are not tested"
else
	check_status 4 "a command with recorded children ends as it does" \
		poolscope-run --children --name kids -- sh -c '/bin/true; (expr 1 >/dev/null; sh -c "exit 6"); sh -c "kill -KILL \$\$"; exit 4'
	settle
	check_text "... each has a span with its end" "expr 0
sh 6
sh signal 9
true 0" "$(spans "$NAME, ${A}['exit.status'] if 'exit.status' in $A else 'signal %d' % ${A}['exit.signal']" \
		"r['record'][2] == 'run/kids/children'" | sort)"
	check_text "... within that of its parent" True "$(stored "$TRACK, ${A}['span.id'], ${A}['parent.id'] if 'parent.id' in $A else '-'" \
		"r['kind'] == 3 and r['record'][2].startswith('run/kids')" |
		awk '{ span[$2] = 1; if ($3 != "-") parent[$3] = 1; else n++ }
			END { ok = n == 1; for (p in parent) ok = ok && p in span; print ok ? "True" : "False" }')"
	check_status 127 "a missing command is 127 with children, too" \
		poolscope-run --children -- /nonexistent/command
	mkfifo "$TMP/late"
	check_status 0 "many children, and threads, and one that outlives the command" \
		poolscope-run --children --name many -- python3 -c '
import subprocess, threading
def work():
    for _ in range(10): subprocess.run(["true"])
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
subprocess.Popen(["sh", "-c", "read -r _ <\"$0\"; : >\"$0.done\"", "'"$TMP/late"'"])'
	echo >"$TMP/late"
	check "... which goes on" wait_until "[ -e $TMP/late.done ]"
	settle
	check_text "... all are recorded" 40 "$(spans "$NAME" "r['record'][2] == 'run/many/children' and r['record'][3] == 'true'" | wc -l)"
fi
check_text "the aggregator found no fault" "" "$(cat "$OUT.faults" 2>/dev/null)"
