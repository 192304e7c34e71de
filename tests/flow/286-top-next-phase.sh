#!/bin/sh
# poolscope-top while a node goes from one phase to the next: as many phases are open as before, and
# the row says the next one.  And a part of a line that just fits is shown, one column less leaves
# it out: "filter: ab_", three blanks and "Enter: keep  Esc: end" are 8 + 3 + 3 + 21 = 35 columns.
# The clock of n2 is two hours ahead: the phase that it began an hour ago, at 3600 s by its clock, is
# an hour old.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(date +%s)
. "$(dirname "$0")/../scenario/lib.sh"
command -v tmux >/dev/null || {
	echo "tmux is missing: need_packages test"
	exit 1
}
terminal() {
	tmux -S "$TMP/tmux" -f /dev/null "$@"
}
matches() {
	terminal capture-pane -p >"$TMP/screen"
	grep -Eq -e "$1" "$TMP/screen"
}
# shows NAME PATTERN: passes when the screen has a line like this soon.
shows() {
	_pattern=$2
	if wait_until 'matches "$_pattern"' 30; then
		pass "$1"
	else
		fail "$1: $2" "$TMP/screen"
	fi
}

model work <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
	}
	phase "pull" {
		start = "pull:start"
		end = "pull:end"
	}
END
aggregate --models "$TMP/models"
records <<-'END'
	event 0 n1 prep:start
	group n2 clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge poolscope.clock.generation.begin:ns:gauge
	event 3600 n2 prep:start
	sample 7200 n2 clock -7200000000000 1000 0 0 1000 1 0
END
printf '%s\n' "LC_ALL=C.UTF-8 poolscope-top -p 'acct\$pool'" 'exec cat' >"$TMP/pane.sh"
terminal new-session -d -x 100 -y 24 "sh $TMP/pane.sh"
shows "a node in a phase" '^n1 +live +prep '
shows "... one with a clock that is ahead" '^n2 +live +prep +6[0-9]min .* clock off'
records <<-'END'
	event 1 n1 prep:end
	event 1 n1 pull:start
END
shows "the next phase" '^n1 +live +pull '

terminal resize-window -x 35 -y 24
terminal send-keys /
terminal send-keys a
terminal send-keys b
shows "a part that just fits" '^filter: ab_   Enter: keep  Esc: end$'
terminal resize-window -x 34 -y 24
shows "... does not in one column less" '^filter: ab_$'
terminal kill-server
stop aggregator
