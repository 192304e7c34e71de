# The front command: up, down, status, demo, and what it says when misused.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

# Whatever happens, nothing stays behind.
trap 'poolscope down; _end' EXIT

check "up starts an instance" poolscope up
check_text "it says where the broker is" "broker     ipc://$DIR/run/broker.ipc" \
	"$(grep '^broker ' "$TMP/out")"
check "up again does no harm" poolscope up
broker=$(cat "$DIR/run/broker.pid")
check "up with --agent adds the agent" poolscope up --agent
check_text "the others were left alone" "$broker" "$(cat "$DIR/run/broker.pid")"
check "an event goes all the way" poolscope emit nodeprep start --wait stored
check "status answers" poolscope status
check "status answers in JSON" poolscope status --format json
cp "$TMP/out" "$TMP/status.json"
check "JSON it is" python3 -m json.tool "$TMP/status.json"
poolscope emit nodeprep end --wait stored
check "phases are there at once" poolscope stats phases --format json
cp "$TMP/out" "$TMP/phases.json"
check_text "the pair was counted" 1 "$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print([r["count"] for r in rows if r["phase"] == "cascade:nodeprep"][0])' "$TMP/phases.json")"
# ---- jobs
check "a job begins" poolscope job start 4711/1 --attr user=ada --ts 1795000000
check "another one shares the node" poolscope job start 4712 --ts 1795000001
check "the first one ends" poolscope job stop 4711/1 --ts 1795000010.5 --wait stored
check "what ran is asked for" poolscope stats phases --format json
check_text "a job is an interval" "1 10.5" "$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print(*[(r["count"], r["max"]) for r in rows if r["phase"] == "job:run"][0])' "$TMP/out")"
poolscope job stop 4712 --ts 1795000003 --wait stored
poolscope dump --format jsonl --kind phase --name 'job:run' >"$TMP/jobs.jsonl"
check_text "each by its id" "4711/1 10.5 4712 2.0" "$(python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
print(*sorted(f"""{r["key"]} {(r["end_ns"] - r["begin_ns"]) / 1e9}""" for r in rows))' "$TMP/jobs.jsonl")"
check "attributes stay with the event" sh -c \
	'poolscope dump --format jsonl --name job:start | grep -q "\"user\": \"ada\""'
check_status 2 "a job without an id is wrong usage" poolscope job start
check_status 2 "an option is no id" poolscope job stop --wait
check_status 2 "a job does nothing else" poolscope job pause 4711

check "down stops it" poolscope down
for name in agent broker aggregator; do
	check "$name has ended" flock -n "$DIR/run/$name.pid" true
done
check "down again does no harm" poolscope down
check "an event waits in the fallback queue meanwhile" poolscope emit test later
check "up again" poolscope up --agent
check "the event of before is stored with the next" poolscope emit test now --wait stored
check_text "both are there" 2 "$(poolscope dump --format jsonl --name 'test:*' | wc -l)"
poolscope down

for each in "$B"/bin/poolscope-*; do
	# The one asks the others, the other reads the section of the aggregator.
	case ${each##*/} in poolscope-config | poolscope-admin) continue ;; esac
	echo "${each##*/poolscope-} { log = \"error\" } # its own"
done >"$TMP/poolscope.conf"
check_status 3 "one configuration file has a section for every program, and no service runs" \
	poolscope status --format json --config "$TMP/poolscope.conf"
echo 'nonsense { log = "error" }' >>"$TMP/poolscope.conf"
check_status 2 "... and for nothing else" poolscope status --config "$TMP/poolscope.conf"
check_printed "... and the message gives its line" \
	"$TMP/poolscope.conf:$(wc -l <"$TMP/poolscope.conf"): no such option 'nonsense'"

mkdir "$TMP/alone"
cp "$(command -v poolscope)" "$TMP/alone"
check_status 2 "no verb is wrong usage" poolscope
check_status 2 "an unknown verb is wrong usage" poolscope nonsense
check_status 2 "a verb is not a path" poolscope ../bin/poolscope-emit
check_status 2 "an unknown option of up is wrong usage" poolscope up --nonsense
check_printed "... and the message says so" "unknown option --nonsense (poolscope up --help lists the options)"
check "options may be cut" poolscope up --ag --di "$DIR"
check "... and be letters" poolscope down -q --dir="$DIR"
check "... also those of config" poolscope config show --for json agent
check_printed "... which names the type of each option" '"name": "log".*"type": "choice"'
check_status 2 "so is one that nearly exists" poolscope stast
check_printed "... which is suggested" "unknown verb 'stast'; did you mean stats.*?"
check "help is given" poolscope --help
check "... also for a letter" poolscope -h
check_printed "... with every verb" "^  emit  *publish an event"
for verb in up down demo job models; do
	check "poolscope help $verb" poolscope help $verb
	check_printed "... is about it" "^usage: poolscope $verb "
	check "poolscope $verb --help" poolscope $verb --help
	check_printed "... too" "^usage: poolscope $verb "
done
check "help of a verb with a program is that of the program" poolscope help emit
check_printed "... which says so" "^usage: poolscope-emit "
check_status 1 "a program that is not installed" env PATH=/nonexistent "$TMP/alone/poolscope" emit a b
check_printed "... is reported as missing" "poolscope-emit is not installed"
mkfifo "$TMP/exec"
# shellcheck disable=SC2016 # for another shell
check "no process is left between the shell and emit" sh -c '
	poolscope emit --stdin <"$1" & front=$!
	exec 7>"$1"
	until [ "$(cat /proc/$front/comm)" = poolscope-emit ]; do
		case $(cat /proc/$front/comm) in sh | poolscope | poolscope-emit) ;; *) exit 1 ;; esac
	done
	exec 7>&-
	wait' sh "$TMP/exec"
check "version is given" poolscope --version
check_printed "of the front command" '^poolscope [^ ]*$'
for wrong in "up --dir=" "down --agent" "demo --dir $TMP/x" "demo --out="; do
	# shellcheck disable=SC2086 # words
	check_status 2 "poolscope $wrong is wrong usage" poolscope $wrong
done
check_status 2 "a directory without a name is wrong usage" poolscope up --dir ""
mkdir -p "$TMP/file" && : >"$TMP/file/not-a-dir"
check_status 1 "an instance that cannot be created is an error" poolscope up --dir "$TMP/file/not-a-dir"

# Programs next to the front command come first: an aggregator that never gets
# ready, a shorter timeout, a user who is not root.
mkdir "$TMP/next"
cp "$(command -v poolscope)" "$TMP/next"
cp -R "$B/share" "$TMP"
put_next() {
	cat >"$TMP/next/$1"
	chmod +x "$TMP/next/$1"
}
put_next poolscope-aggregator <<END
#!/bin/sh
echo \$\$ >"$TMP/next/pid"
exec tail -f /dev/null
END
put_next timeout <<END
#!/bin/sh
until [ -s "$TMP/next/pid" ]; do :; done
shift 2
exec "$(command -v timeout)" --foreground 0.1 "\$@"
END
put_next id <<END
#!/bin/sh
echo 1000
END
check_status 1 "up does not wait for ever" "$TMP/next/poolscope" up --dir "$TMP/never"
check_printed "and says so" "poolscope-aggregator is not ready after 120 s"
kill "$(cat "$TMP/next/pid")"
check_status 1 "no home, no instance" \
	env -u HOME -u XDG_STATE_HOME -u POOLSCOPE_DIR "$TMP/next/poolscope" down
check_printed "and the message says so" "give --dir or set POOLSCOPE_DIR"

cd "$TMP" || exit 1
check "the demo runs whatever the environment selects" \
	env POOLSCOPE_NODE=other POOLSCOPE_STORE=/none POOLSCOPE_CONFIG=/none POOLSCOPE_RUN=7 \
	POOLSCOPE_RECEIVE_TS=1 POOLSCOPE_RUNS=3 POOLSCOPE_SEED=1 POOLSCOPE_SPACING=1 \
	POOLSCOPE_FIRST=100 POOLSCOPE_BASE=0 POOLSCOPE_MODEL=job POOLSCOPE_MODELS=/none \
	POOLSCOPE_TERM=svg POOLSCOPE_PAGES=2 POOLSCOPE_FORMAT=csv \
	poolscope demo --quick -o "$TMP/demo"
cp "$TMP/out" "$TMP/demo.out"
for file in render-60.pftrace this-machine.pftrace data/prodacct-render-60.dat \
	data/prodacct-render-60.plot data/prodacct-render-60.png data/cascade.json \
	data/this-machine.jsonl; do
	check "the demo leaves $file" test -s "$TMP/demo/$file"
done
check "this machine was sampled" grep -q '"kind": *"sample"' "$TMP/demo/data/this-machine.jsonl"
# The newest ends now, each has its place in one of three pictures.
for page in 1 2 3; do
	for file in data/demo-farm-testrun-000$page.dat data/demo-farm-testrun-000$page.plot; do
		check "the demo leaves $file of its farm" test -s "$TMP/demo/$file"
	done
done
check_text "all 60 test runs are in them, the newest first" "$(seq 59 -1 0 | tr '\n' ' ')" \
	"$(sed -s 1d "$TMP"/demo/data/demo-farm-testrun-000?.dat | cut -d' ' -f2 | tr '\n' ' ')"
check "the demo leaves the farm's days of a step" test -s "$TMP/demo/data/demo-farm-testrun-days-flash.png"
check "the demo leaves the timings of another benchmark" \
	test -s "$TMP/demo/data/demo-benches-bench:test_0-BM_1.png"
check "the demo leaves a page of eight pictures, each of which is there, and no other with them" python3 -c '
import os, re, sys, urllib.parse
page = open(sys.argv[1] + "/index.html").read()
shown = [urllib.parse.unquote(name) for name in re.findall("img src=\"([^\"]*)\"", page)]
assert len(shown) == 8, shown
assert sorted(shown) == sorted(name for name in os.listdir(sys.argv[1]) if name.endswith(".png")), shown
assert all(os.path.getsize(os.path.join(sys.argv[1], name)) > 0 for name in shown)
assert len(re.findall(r"[.]\s", re.search("(?s)<p>(.*?)</p>", page)[1] + " ")) == 3' "$TMP/demo"
check_text "all else is in a folder of its own" "data index.html render-60.pftrace report.html this-machine.pftrace" \
	"$(cd "$TMP/demo" && printf '%s\n' * | grep -v png | xargs)"
tail -4 "$TMP/demo.out" >"$TMP/demo.end"
check "it ends with what to do next" grep -q "poolscope up --agent" "$TMP/demo.end"
check_text "which are two commands" 2 "$(sed '1,/^next:/d' "$TMP/demo.out" | grep -c '^  poolscope ')"
check "the demo leaves a report" grep -q 'id="trace"' "$TMP/demo/report.html"
check_status 1 "no table has a phase that never occurred" grep -q '^[a-z-]*  *0  *-' "$TMP/demo.out"
check "the demo uploads its results" grep -q "^96 files, 192 entries" "$TMP/demo.out"
check "... and shows what got slower" grep -q "48 runs, .* 1 change" "$TMP/demo.out"
check "the demo says what became of them" grep -q '^.*  *60  *0  *0  *5[0-9]  *[0-9]' "$TMP/demo.out"
check_text "... with the statistics of each step" \
	"boot flash initialisation publish queue test testrun" "$(python3 -c '
import json, sys
answer = json.load(open(sys.argv[1]))
(group,) = answer["rows"]
assert group["finished"] + group["errors"] == 60, group
each = {s["phase"]: s["count"] for s in answer["steps"] if (s["time"], s["of"]) == ("event_emit", "per_iteration")}
assert set(each.values()) == {60}, each
print(*sorted(each))' "$TMP/demo/data/farm.json")"
