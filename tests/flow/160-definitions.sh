#!/bin/sh
# The agent's socket: who may define what.  A definition that differs from the one
# before is refused with a sentence, with all of its put; built-in groups are the
# agent's; what is left in the fallback queue is judged alike.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
agent() {
	start agent poolscope-agent --no-samples --no-clock -p 'acct$pool' -n node1
}
agent || exit 1

# put [COMMAND...]: the answers to the puts of standard input.
put() {
	"$@" /usr/bin/python3 "$ROOT/tests/flow/definitions.py" "$DIR/run/agent.sock" >"$TMP/answers" 2>&1
}
# says NAME WANTED
says() {
	check_text "$1" "$2" "$(cat "$TMP/answers")"
}
# stored KIND: their names.
stored() {
	poolscope-dump -p 'acct$pool' --kind event --format csv | awk -F, 'NR > 1' | grep -c "$1"
}

put <<'END'
app a,b s,By gauge,counter
put
app a,b,c s,By,1 gauge,counter,gauge
put
app a s gauge
put
app b,a By,s counter,gauge
put
app a,b kBy,By gauge,counter
put
app a,b s,By counter,counter
put
other a,a s,s gauge,gauge
put
more x 1 gauge
app a,b,d s,By,1 gauge,counter,gauge
put
more y 1 gauge
END
says "it may grow, an old one changes nothing, another is refused with what differs" "taken
taken
taken
metric group app: column 1 is b, but is defined as a: columns can only be added at the end
metric group app: column 1, a, has the unit \"kBy\", but is defined with \"s\"
metric group app: column 1, a, is a counter, but is defined as a gauge
metric group other: two columns are called a
metric group app: column 3 is d, but is defined as c: columns can only be added at the end
taken"
check "the log has it, once a minute" grep -q "refused a bad packet at the local socket: metric group app: column 1 is b" \
	"$TMP/agent.log"
check "all is stored that was taken" poolscope-emit test last --wait stored
check_text "... but nothing of a put that was refused" 3 "$(stored ',app,')"

put <<'END'
labels/good a s gauge '{"rank":"3","x":"[[{"}'
put
labels/nested a s gauge '{"a":{"b":"c"}}'
put
labels/brackets a s gauge '["'*30000
put
labels/number a s gauge 3
put
labels/other a s gauge '{"b":"1","a":"2"}'
other/good a s gauge
END
object="the labels are not a JSON object of 1 to 16 texts, each of 1 to 128 bytes, written without blanks"
says "labels are a JSON object of texts, in one form" "taken
metric group labels/nested: $object
metric group labels/brackets: $object
metric group labels/number: the labels are not a text
metric group labels/other: the labels are not sorted, one is empty, or one is escaped in another way"
check "... and the agent goes on" poolscope-emit test labels --wait stored
check_text "... with what was good" 1 "$(stored ',labels/good,')"
check_text "... and nothing else" 0 "$(stored ',labels/[nbo]\|other/good')"

put <<'END'
cpu poolscope.boot,system.cpu.time.user 1,cs gauge,counter
put
cpu poolscope.boot,system.cpu.time.idle 1,cs gauge,counter
put
process/sh process.cpu.utilization,process.memory.usage,process.thread.count,process.count,mine 1,By,{thread},{process},1 gauge
END
says "the agent's user may add columns to a built-in group, and only add" "taken
metric group cpu: column 2 is system.cpu.time.idle, but is defined as system.cpu.time.user: columns can only be added at the end
taken"

# ---- a program whose gauge has another unit now: a group of its own
# check.sh builds it.
client=$B/flow/client
put <<'END'
app/client/queue queue kBy gauge
END
says "a gauge has a unit" taken
check "the program with another one goes on" "$client" tour
check_text "... and nothing of it is refused" "" "$(cat "$TMP/err")"
check "... it is stored with its own" wait_until \
	"poolscope-dump -p 'acct\$pool' --kind sample --format long | grep -q ',queue,By,7.5'" 30
check "... its spans are stored" wait_until \
	"poolscope-dump -p 'acct\$pool' --kind span | grep -c '\"name\": \"\(inner\|outer\)\"' | grep -qx 2" 30

# ---- the same after a restart: the agent forgot, the aggregator did not
stop agent
agent || exit 1
put <<'END'
app b,a By,s counter,gauge
END
says "an agent that was restarted does not know" taken
check "it is stored, too" poolscope-emit test later --wait stored
check "as a rejected batch with the reason" wait_until "poolscope-dump -p 'acct\$pool' --kind rejected --format jsonl |
	grep -q '\"metric group app: column 1 is b, but is defined as a: columns can only be added at the end\"'" 30
check_text "... and the event next to it as an event" 4 "$(stored ',app,')"

# ---- another user
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	stop agent
	agent || exit 1
	chmod 711 "$TMP" "$DIR" "$DIR/run"
	chmod 666 "$DIR/run/agent.sock"
	put setpriv --reuid 65534 --regid 65534 --clear-groups -- <<'END'
memory mine By gauge
put
process/zsh process.cpu.utilization,process.memory.usage,process.thread.count,process.count,mine 1,By,{thread},{process},1 gauge
put
load poolscope.boot 1 gauge
put
app b,a By,s counter,gauge
END
	says "another user cannot define a built-in group; the aggregator knows whose group app is" \
		"metric group memory: column 1 is mine, but is defined as system.memory.limit: columns can only be added at the end
metric group process/zsh has 4 columns of the agent's own: only the agent's user can add another
metric group load is the agent's own: only its user and root can define or fill it; use another name, such as app/load
taken"
	put <<'END'
app a,b,c s,By,1 gauge,counter,gauge
END
	says "and does not keep the first one from it" taken
fi
