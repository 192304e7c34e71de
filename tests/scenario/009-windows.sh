#!/bin/sh
# A window contains its first nanosecond, and not the one of its end.
#
# Three events, at 10, 20 and 30 s; a span from 10 to 30 s; a phase from 10 to 20 s.
#   [10, 30): the events of 10 and 20 s
#   [10, 30.000000001): all three
#   [10.000000001, 30): only the one of 20 s
# Two windows that meet contain each event once.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END'
	event 10 n1 a:one
	event 20 n1 a:two
	event 30 n1 a:three
END

# events FROM TO
events() {
	columns name poolscope-dump --kind event --format csv --from "$(at "$1")" --to "$(at "$2")"
}
answer "from is in the window, to is not" "one
two" events 10 30
answer "a nanosecond more, and the last is in it" "one
two
three" events 10 30.000000001
answer "a nanosecond later, and the first is not" "two" events 10.000000001 30
answer "what is at the edge of two windows is in the second" "one" events 0 20
answer "... and there once" "two
three" events 20 40
