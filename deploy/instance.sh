# instance - the verbs of poolscope that manage an instance: up, down, demo.
#
#   sh instance.sh BIN VERB [options]
#
# BIN has the programs.  The front command (poolscope.c) runs this; it has their
# --help and has read their options (verb_options.c).
# SPDX-License-Identifier: MIT
set -eu

here=$1
verb=$2
shift 2

fail() {
	echo "poolscope: $*" >&2
	exit 1
}

remark() {
	[ -n "$quiet" ] || echo "poolscope: $*" >&2
}

wrong() {
	echo "poolscope: $* (poolscope $verb --help lists the options)" >&2
	exit 2
}

# add_listener listen|reader ENDPOINT
add_listener() {
	case $2 in
	*[![:graph:]]*) wrong "--$1 $2: an endpoint must not contain blanks";;
	tcp://*:[0-9]*|ipc:///*) ;;
	*) wrong "--$1 needs tcp://ADDRESS:PORT";;
	esac
	case $1 in
	listen) listen="$listen --listen=$2";;
	reader) reader="$reader --reader=$2";;
	esac
}

# The options of $verb, as the front command has read them: --name or --name=value.
take_options() {
	agent=
	receiver=
	listen=
	reader=
	out=demo-out
	quick=
	quiet=
	share=
	dir=${POOLSCOPE_DIR:-}
	while [ $# -gt 0 ]; do
		case $1 in
		--agent) agent=1;;
		--receiver) agent=1; receiver=1;;
		--share=*) share=${1#*=};;
		--listen=*) add_listener listen "${1#*=}";;
		--reader=*) add_listener reader "${1#*=}";;
		--quick) quick=1;;
		--quiet) quiet=1;;
		--output=*) out=${1#*=};;
		--dir=*) dir=${1#*=};;
		esac
		shift
	done
	if [ -z "$dir" ]; then
		if [ "$(id -u)" -eq 0 ]; then dir=/var/lib/poolscope
		elif [ -n "${XDG_STATE_HOME:-}" ]; then dir=$XDG_STATE_HOME/poolscope
		elif [ -n "${HOME:-}" ]; then dir=$HOME/.local/state/poolscope
		else fail "no instance: give --dir or set POOLSCOPE_DIR"; fi
	fi
	case $dir in /*) ;; *) dir=$PWD/$dir;; esac
}

# An instance that this user may not enter is not one that does not run.
check_owner() {
	for each in "$dir" "$dir/run"; do
		[ ! -e "$each" ] || [ -x "$each" ] ||
			fail "$dir belongs to user $(stat -c %U "$each"), who has not shared it (poolscope up --share GROUP)"
	done
}

# Files of an instance are made by the user to whom it belongs, also where root could:
# SECURITY.md, "Directories".  Nobody else can put files of his own there.
check_directories() {
	me=$(id -u)
	for each in "$dir" "$dir/run" "$dir/store" "$dir/spool" "$dir/fallback" "$dir/log" "$dir/keys"; do
		[ -e "$each" ] || [ -L "$each" ] || continue
		owner=$(stat -L -c %u "$each" 2>/dev/null) || fail "$each leads nowhere"
		# The directory of the packages is root's.
		[ "$owner" -eq "$me" ] || { [ "$each" = "$dir" ] && [ "$owner" -eq 0 ]; } ||
			fail "$each belongs to user $(stat -L -c %U "$each"): start it as that user," \
				"or the services of the packages with systemctl, or choose another directory (--dir)"
		case $(stat -L -c %A "$each") in
		?????w*|????????w*)
			fail "$each can be written by others, who could put their files in the place of its own:" \
				"run chmod go-w $each";;
		esac
	done
}

# Let the members of group $share reach the sockets of agent and readers, and everybody
# leave records when no agent runs.  Nobody else makes files where the sockets are;
# logs, store, spool and keys stay private.
share_instance() {
	chgrp "$share" "$dir/run" 2>/dev/null ||
		fail "cannot give $dir/run to group $share: it must exist, and $(id -un) must be a member of it, or root"
	chmod 0710 "$dir/run"
	(umask 077 && mkdir -p "$dir/fallback/tmp" "$dir/fallback/new")
	# The agent reads what others leave by its own group, not by that of the share.
	chgrp "$(id -g)" "$dir/fallback/tmp" "$dir/fallback/new"
	chmod 3777 "$dir/fallback/tmp" "$dir/fallback/new"
	chmod 0711 "$dir" "$dir/fallback"
	[ "$(stat -c %g "$dir/run")" -ne "$(id -g)" ] || [ "$(id -g)" -eq 0 ] ||
		remark "group $share is the own group of $(id -un): its members can read events that wait in $dir/fallback"
}

# is_free NAME OPTION...: a running daemon holds a lock on its pid file.  With its name
# flock(1) would make a file that has just gone, which would be root's in a user's
# instance.
is_free() {
	file=$dir/run/$1.pid
	shift
	{ flock "$@" 8 8<"$file"; } 2>/dev/null || [ ! -e "$file" ]
}

is_running() {
	[ -f "$dir/run/$1.pid" ] && [ ! -L "$dir/run/$1.pid" ] && ! is_free "$1" -n
}

# Set $pid to the process of daemon $1.  Who wrote the number could have written that of
# any process: it must be one of the owner of the file.
find_pid() {
	read -r pid <"$dir/run/$1.pid" || fail "cannot read $dir/run/$1.pid"
	case $pid in ''|*[!0-9]*) fail "$dir/run/$1.pid has no number of a process";; esac
	[ "$(stat -c %u "/proc/$pid" 2>/dev/null)" = "$(stat -c %u "$dir/run/$1.pid")" ] ||
		fail "$dir/run/$1.pid names process $pid, which is not one of the file's owner: left alone"
}

start() {
	name=$1
	shift
	if is_running "$name"; then return 0; fi
	log=$dir/log/$name.log
	# Keep one old log, so that the folder stays bounded.
	if [ -e "$log" ] && [ "$(wc -c <"$log")" -gt 1048576 ]; then mv "$log" "$log.1"; fi
	ready=$dir/run/$name.ready
	rm -f "$ready"
	mkfifo -m 600 "$ready"
	(
		exec 3>"$ready" </dev/null >>"$log" 2>&1
		exec setsid "poolscope-$name" --dir "$dir" --ready-fd 3 \
			--pid-file "$dir/run/$name.pid" "$@"
	) &
	# The daemon writes a newline when it is ready; if it dies, the file ends.
	status=0
	timeout --foreground 120 sh -c 'read -r _' <"$ready" || status=$?
	rm -f "$ready"
	if [ "$status" -eq 0 ]; then began="$name $began"; return 0; fi
	tail -n 3 "$log" >&2
	[ "$status" -ne 124 ] ||
		fail "poolscope-$name is not ready after 120 s; it continues to start, see $log"
	# What ran before stays.
	for each in $began; do stop "$each"; done
	fail "poolscope-$name did not start, see $log${began:+; stopped again: $began}"
}

stop() {
	is_running "$1" || return 0
	find_pid "$1"
	kill -TERM "$pid" 2>/dev/null || true
	if ! is_free "$1" -w 30; then
		remark "$1 did not stop within 30 s; killing it (no accepted record is lost)"
		kill -KILL "$pid" 2>/dev/null || true
		is_free "$1" -w 10 || fail "cannot kill $1 (pid $pid)"
	fi
}

# Keys for the TCP listeners of this instance, and for its own programs.
make_keys() {
	for name in server agent reader; do
		[ ! -e "$dir/keys/$name.key" ] || continue
		poolscope-keys --dir "$dir" --quiet new "$name" --role "$name" >/dev/null ||
			fail "cannot create $dir/keys/$name.key for the TCP listeners"
	done
}

# check_listeners NAME OPTION...: if NAME runs already, it must have these options.
check_listeners() {
	runs=$1
	shift
	is_running "$runs" || return 0
	find_pid "$runs"
	for each in "$@"; do
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -e "$each" ||
			fail "the $runs runs already, without $each; stop it with poolscope down"
	done
}

up() {
	check_owner
	check_directories
	(umask 077 && mkdir -p "$dir/run" "$dir/log") || fail "cannot create $dir"
	# One `up` at a time; the lock ends with the shell.  No file is made for it.
	exec 9<"$dir/run"
	flock -w 60 9 || fail "another poolscope up is running in $dir"
	group=${share:+--socket-group=$share}
	began=
	set -f
	# shellcheck disable=SC2086 # lists of options that have no blanks
	{
		check_listeners aggregator $reader ${group:+"$group"}
		check_listeners broker $listen
		[ -z "$agent" ] || check_listeners agent ${group:+"$group"}
		[ -z "$receiver" ] || check_listeners receiver ${group:+"$group"}
		[ -z "$share" ] || share_instance
		if [ -n "$listen$reader" ]; then make_keys; fi
		start aggregator ${group:+"$group"} ${reader:+"--reader=ipc://$dir/run/reader.ipc"} $reader 9>&-
		start broker ${listen:+"--listen=ipc://$dir/run/broker.ipc"} $listen 9>&-
	}
	set +f
	if [ -n "$agent" ]; then start agent ${group:+"$group"} 9>&-; fi
	if [ -n "$receiver" ]; then start receiver ${group:+"$group"} 9>&-; fi
}

say_endpoints() {
	echo "instance   $dir"
	echo "broker     ipc://$dir/run/broker.ipc"
	echo "intake     ipc://$dir/run/intake.ipc"
	echo "reader     ipc://$dir/run/reader.ipc"
	if is_running agent; then echo "agent      $dir/run/agent.sock"; fi
	if is_running receiver; then echo "textfiles  $dir/metrics.d"; fi
	if [ -n "$share" ]; then echo "shared     with group $share"; fi
	[ -n "$listen$reader" ] || return 0
	for each in $listen; do echo "agents     ${each#--listen=}"; done
	for each in $reader; do echo "readers    ${each#--reader=}"; done
	echo "keys       $dir/keys"
	[ -n "$listen" ] || return 0
	cat <<-SAY

	A key for nodes:  poolscope keys new nodes -p PARTITION -o nodes.key
	SAY
	for each in $listen; do say_node "${each#--listen=}"; done
}

# How a node reaches a listener for agents.
say_node() {
	where="On a node:       "
	case $1 in
	ipc://*) return;;
	tcp://127.*|tcp://localhost:*|tcp://\[::1\]:*) to=$1; where="On this host only:";;
	tcp://0.0.0.0:*|tcp://\*:*|tcp://\[::\]:*) to=tcp://$(uname -n):${1##*:};;
	*) to=$1;;
	esac
	echo "$where poolscope-agent -p PARTITION --broker $to --key nodes.key"
}

down() {
	[ -d "$dir/run" ] || return 0
	stop receiver
	stop agent
	stop broker
	stop aggregator
}

step() {
	printf '\n== %s\n' "$*"
}

# Wait until the store has $1 samples of this machine's processors, at most 90 s;
# show the progress on a terminal.
await_samples() {
	until=$(($(date +%s) + 90))
	while :; do
		samples=$(poolscope-dump --dir "$dir" -p "$here_pool" --kind sample \
			--name cpu --format jsonl --log error | wc -l)
		[ ! -t 2 ] || [ -n "$quiet" ] || printf '\r%s of %s samples ' "$samples" "$1" >&2
		[ "$samples" -lt "$1" ] || break
		[ "$(date +%s)" -lt "$until" ] || { remark "only $samples of $1 samples after 90 s"; break; }
		sleep 0.5
	done
	[ ! -t 2 ] || [ -n "$quiet" ] || echo >&2
}

# Wait until $1 results can be read: an uploaded result is stored at once and
# indexed soon after.
await_results() {
	until=$(($(date +%s) + 60))
	while [ "$(poolscope-results entities --dir "$dir" -p "$benches" --format csv --columns kind --log error |
		grep -c '^Test')" -lt "$1" ]; do
		[ "$(date +%s)" -lt "$until" ] || fail "the results are not indexed after 60 s"
		sleep 0.1
	done
}

# Statistics without phases that never occurred.
occurred() {
	awk '!($2 == 0 && $3 == "-")'
}

# picture NAME FILE TITLE: a picture of the page, if FILE of the data was drawn.
picture() {
	[ -s "$out/data/$2" ] || return 0
	mv "$out/data/$2" "$out/$1.png"
	printf '<h2>%s</h2>\n<img src="%s.png" alt="%s">\n' "$3" "$1" "$3"
}

index_page() {
	cat <<-'PAGE'
		<!DOCTYPE html>
		<html lang="en"><head><meta charset="utf-8"><title>poolscope demo</title>
		<style>
		:root { color-scheme: light dark }
		body { font-family: sans-serif; max-width: 1220px; margin: 2em auto }
		img { max-width: 100% }
		@media (prefers-color-scheme: dark) { img { filter: invert(0.9) hue-rotate(180deg) } }
		</style></head><body>
		<h1>poolscope demo</h1>
		<p>Events with a begin and an end are phases: the first picture shows what 60 machines of a recorded pool did until they
		were ready, and which were slow.
		Test runs and benchmark results are drawn run by run and day by day: the next pictures show a generated device farm,
		its errors, and the day from which a benchmark was slower.
		Agents sample each machine: the last pictures are processors and memory of this one while the demo ran.</p>
	PAGE
	picture pool-start prodacct-render-60-phases.png "Start-up of a pool of 60 nodes"
	picture farm-runs demo-farm-testrun-0001.png "The newest test runs of a device farm"
	picture farm-steps demo-farm-testrun-distribution.png "How long the steps of test runs took"
	picture farm-days demo-farm-testrun-days-testrun.png "How long test runs took, day by day"
	picture farm-errors demo-farm-testrun-errors.png "Errors of the device farm"
	picture benchmark "demo-benches-bench:test_0-BM_0.png" "A benchmark that got slower"
	picture this-machine-cpu demo-this-machine-system.cpu.time.user-cpu.png "Processors of this machine"
	picture this-machine-memory demo-this-machine-system.memory.usage.used-memory.png "Memory of this machine"
	echo '<p><a href="report.html">report.html</a> is the recorded pool as one page, to look into.</p>
<p>More pictures, and the tables and scripts of all, are in data/.
The .pftrace files are timelines: drop one on <a href="https://ui.perfetto.dev">ui.perfetto.dev</a>; it stays in the browser.</p>
</body></html>'
}

demo() {
	pool=
	for each in "$here/../../deploy/demo" "$here/../../../deploy/demo" \
		"$here/../share/poolscope/demo"; do
		if [ -r "$each/render-60.jsonl" ]; then pool=$each/render-60.jsonl; break; fi
	done
	[ -n "$pool" ] || fail "the recorded pool (render-60.jsonl) is not installed"
	# Options of the environment would change the demo.
	for each in $(env | sed -n 's/^\(POOLSCOPE_[A-Z0-9_]*\)=.*/\1/p'); do
		case $each in POOLSCOPE_LOG|POOLSCOPE_QUIET) ;; *) unset "$each";; esac
	done
	[ -z "$quiet" ] || export POOLSCOPE_QUIET=true
	mkdir -p "$out/data"
	dir=$(mktemp -d "${TMPDIR:-/tmp}/poolscope-demo.XXXXXX")
	trap 'down; rm -rf "$dir"' EXIT
	trap 'exit 1' INT TERM HUP
	agent=1
	# With --quick, take the 60 samples of a minute in six seconds.
	POOLSCOPE_PERIOD=${quick:+100ms}
	POOLSCOPE_PERIOD=${POOLSCOPE_PERIOD:-1s}
	export POOLSCOPE_PERIOD
	# shellcheck disable=SC2016 # a dollar is part of the name
	here_pool='demo$this-machine' recorded='prodacct$render-60' farm='demo$farm'
	# shellcheck disable=SC2016
	benches='demo$benches'
	POOLSCOPE_PARTITION=$here_pool up
	unset POOLSCOPE_PARTITION
	step "an instance in $dir: aggregator, broker and this machine's agent"
	say_endpoints
	step "events of this machine, as a node's startup script sends them"
	poolscope-emit --dir "$dir" nodeprep start --message "offer=Debian,sku=12"
	poolscope-emit --dir "$dir" cascade start
	poolscope-emit --dir "$dir" cascade pull-start --message "img=demo"
	step "a recorded pool of 60 nodes ($recorded)"
	poolscope-import cascade --dir "$dir" "$pool"
	poolscope-plot cascade --dir "$dir" -q -p "$recorded" -o "$out/data" --view reference
	poolscope-plot cascade --dir "$dir" -q -p "$recorded" -o "$out/data"
	poolscope-stats cascade --dir "$dir" -p "$recorded" --format json >"$out/data/cascade.json"
	poolscope-stats phases --dir "$dir" -p "$recorded" | occurred
	poolscope-emit --dir "$dir" cascade pull-end --message "img=demo"
	poolscope-emit --dir "$dir" cascade gr-done --message "nglobalresources=1"
	poolscope-emit --dir "$dir" nodeprep end --wait stored
	step "the startup of this machine"
	poolscope-stats phases --dir "$dir" -p "$here_pool" | occurred
	step "a farm of devices: 60 generated test runs ($farm)"
	poolscope-generate testrun --dir "$dir" --runs 60 --spacing 21600 --base now -p "$farm"
	poolscope-stats groups --dir "$dir" -p "$farm"
	poolscope-stats groups --dir "$dir" -p "$farm" --format json >"$out/data/farm.json"
	poolscope-plot testrun --dir "$dir" -q -p "$farm" -o "$out/data" --view all
	step "results of benchmarks: 12 days of two generated tests ($benches)"
	mkdir "$dir/results" "$dir/archive"
	poolscope-generate results --dir "$dir" --files 96 --tests 2 --entries 2 --spacing 21600 --base now -o "$dir/results"
	poolscope-upload results --dir "$dir" -p "$benches" --target store -d "$dir/results" -a "$dir/archive"
	await_results 96
	poolscope-results tests --dir "$dir" -p "$benches"
	poolscope-results timings --dir "$dir" -p "$benches" //bench:test_0 BM_0 --limit 8
	poolscope-plot results --dir "$dir" -q -p "$benches" -o "$out/data" //bench:test_0
	poolscope-plot results --dir "$dir" -p "$benches" --term dumb //bench:test_0 BM_0
	step "60 samples of this machine, one every $POOLSCOPE_PERIOD since the start of this demo"
	await_samples 60
	poolscope-dump --dir "$dir" -p "$here_pool" --format jsonl >"$out/data/this-machine.jsonl"
	poolscope-plot samples --dir "$dir" -q -p "$here_pool" -o "$out/data" \
		--metric system.cpu.time.user --metric system.memory.usage.used
	poolscope-plot samples --dir "$dir" -q -p "$here_pool" \
		--metric system.cpu.time.user --term dumb
	poolscope-stats usage --dir "$dir" -p "$here_pool"
	step "both pools as timelines"
	poolscope-trace --dir "$dir" -p "$recorded" -o "$out/render-60.pftrace"
	poolscope-trace --dir "$dir" -p "$here_pool" -o "$out/this-machine.pftrace"
	step "the recorded pool as a page of its own"
	poolscope-report --dir "$dir" -q -p "$recorded" --with-trace -o "$out/report.html"
	step "the state of the store and the broker"
	poolscope-stats status --dir "$dir" || :
	step "results in $out"
	index_page >"$out/index.html"
	echo "$out/index.html        the pictures, in order
$out/data              more pictures, the tables and gnuplot scripts of all
$out/report.html       a pool as one page, to be mailed: it needs no server
$out/*.pftrace         timelines: drop one on https://ui.perfetto.dev (it stays in the browser)

next:
  poolscope up --agent                          start an instance that stays, and sample this machine
  poolscope web --open                          look at it in a browser"
}

case $verb in
up) take_options "$@"; up; say_endpoints;;
down)
	take_options "$@"
	check_owner
	is_running receiver || is_running agent || is_running broker || is_running aggregator ||
		remark "nothing runs in $dir"
	down;;
demo) take_options "$@"; demo;;
esac
